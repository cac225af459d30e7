/** Allowed numbers. */
export interface Range {
  readonly minimum: number;
  readonly maximum: number;
  readonly whole?: true;
}

/** The allowed texts for an option: any of the given alternatives. */
export interface Rule {
  /** In words. */
  readonly accepts: string;
  /** True for a flag, or a flag and other values. */
  readonly flag?: true;
  /** In lower case. */
  readonly words?: readonly string[];
  /** A number's range, or a range per number in a list. */
  readonly ranges?: readonly Range[];
  readonly kind?: 'colour' | 'fileName' | 'url';
  /** A regular expression. */
  readonly pattern?: string;
  /** In characters; the text is not empty then. */
  readonly maxLength?: number;
}
