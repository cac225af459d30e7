/** The Photoshop resource that contains IPTC-IIM. */
const resource = { signature: '8BIM', iptc: 0x0404 } as const;
/** The first byte of every data set, and the content record (IIM 4.2, 1.5). */
const marker = 0x1c;
const content = 2;

/** Maximum values per data set; images name few authors and notices. */
const maxValues = 20;

/**
 * Returns the texts of data sets in record 2 (IPTC-IIM 4.2), such as 80, the by-line. Joins
 * repeated data sets with commas.
 *
 * @param data IIM, or Photoshop resources that contain it
 */
export function iptcTexts(data: Buffer, wanted: readonly number[]): ReadonlyMap<number, Buffer> {
  const found = new Map<number, Buffer[]>(wanted.map((dataSet) => [dataSet, []]));
  const iim = data[0] === marker ? data : findIim(data);
  for (let at = 0; at + 5 <= iim.length && iim[at] === marker; ) {
    const [, record = 0, dataSet = 0] = iim.subarray(at, at + 3);
    const length = iim.readUInt16BE(at + 3);
    // The highest bit marks an extended length, which no text needs.
    if (length > 0x7fff || at + 5 + length > iim.length) break;
    const values = record === content ? found.get(dataSet) : undefined;
    if (values !== undefined && values.length < maxValues) {
      values.push(iim.subarray(at + 5, at + 5 + length));
    }
    at += 5 + length;
  }
  return new Map([...found].map(([dataSet, values]) => [dataSet, joined(values)]));
}

const joined = (values: readonly Buffer[]): Buffer =>
  Buffer.concat(values.flatMap((value, index) => (index === 0 ? [value] : [comma, value])));

const comma = Buffer.from(', ');
const none = Buffer.alloc(0);

function findIim(data: Buffer): Buffer {
  for (let at = data.indexOf(resource.signature); at !== -1 && at + 12 <= data.length; ) {
    if (data.toString('latin1', at, at + 4) !== resource.signature) return none;
    // A name preceded by its length, and data, each padded to an even size.
    const nameBytes = ((data[at + 6] ?? 0) + 2) & ~1;
    const start = at + 6 + nameBytes + 4;
    if (start > data.length) return none;
    const length = data.readUInt32BE(start - 4);
    if (data.readUInt16BE(at + 4) === resource.iptc) return data.subarray(start, start + length);
    at = start + length + (length & 1);
  }
  return none;
}
