/** The numbers that a value may be. */
export interface Range {
  readonly minimum: number;
  readonly maximum: number;
  readonly whole?: true;
}

/** What the text of an option must be: one of the given alternatives. */
export interface Rule {
  /** In words. */
  readonly accepts: string;
  /** True for a flag, or a flag and numbers. */
  readonly flag?: true;
  /** In lower case. */
  readonly words?: readonly string[];
  /** The range of a number, or one for each of several numbers. */
  readonly ranges?: readonly Range[];
  readonly kind?: 'colour' | 'fileName' | 'url';
  /** A regular expression. */
  readonly pattern?: string;
  /** In characters; the text is not empty then. */
  readonly maxLength?: number;
}
