declare module 'wawoff2/decompress.js' {
  /** Returns the TTF in a WOFF2 font. */
  export default function decompress(bytes: Uint8Array): Promise<Uint8Array>;
}
