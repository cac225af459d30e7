/** A reply's fields besides `ok`; JavaScript numbers are encoded as int32 or double. */
export interface Reply {
  readonly [field: string]: unknown;
}
