/** A picture that is small on the wire and meant to cost much. */
export interface Bomb {
  readonly what: string;
  /** Made when it is needed, because some have 30 MB. */
  readonly bytes: () => Buffer;
  /** The parameters that it is meant for. */
  readonly query?: string;
  /** Whether it is meant for a project that keeps metadata. */
  readonly keepsMetadata?: boolean;
}
