import sharp from 'sharp';

const segment = (marker: number, data: Buffer): Buffer => {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
};
const xmpSegment = (attributes: string, content = '') =>
  segment(
    0xe1,
    Buffer.from(
      `http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" xmlns:Container="http://ns.google.com/photos/1.0/container/" xmlns:Item="http://ns.google.com/photos/1.0/container/item/" hdrgm:Version="1.0" ${attributes}>${content}</rdf:Description></rdf:RDF></x:xmpmeta>`,
    ),
  );
const withSegments = (jpeg: Buffer, ...segments: Buffer[]) =>
  Buffer.concat([jpeg.subarray(0, 2), ...segments, jpeg.subarray(2)]);

/** Offsets of the images in the file (CIPA DC-007, 5.2), from behind the segment's `MPF\0`. */
function multiPicture(sizes: readonly [number, number], from: number): Buffer {
  const data = Buffer.alloc(4 + 8 + 2 + 3 * 12 + 4 + 2 * 16);
  data.write('MPF\0MM\0*', 0, 'latin1');
  data.writeUInt32BE(8, 8);
  data.writeUInt16BE(3, 12);
  const entry = (index: number, tag: number, type: number, count: number) => {
    const at = 14 + 12 * index;
    data.writeUInt16BE(tag, at);
    data.writeUInt16BE(type, at + 2);
    data.writeUInt32BE(count, at + 4);
    return at + 8;
  };
  data.write('0100', entry(0, 0xb000, 7, 4), 'latin1');
  data.writeUInt32BE(2, entry(1, 0xb001, 4, 1));
  data.writeUInt32BE(50, entry(2, 0xb002, 7, 32));
  data.writeUInt32BE(0x030000, 54);
  data.writeUInt32BE(sizes[0], 58);
  data.writeUInt32BE(sizes[1], 74);
  data.writeUInt32BE(sizes[0] - from, 78);
  return segment(0xe2, data);
}

/** Returns an Ultra HDR image. Its gain map is `factor` times smaller and repeats its lightness. */
export async function ultraHdr(
  image: Buffer,
  orientation = 1,
  factor = 4,
  icc: 'srgb' | 'p3' = 'srgb',
): Promise<Buffer> {
  const { width = 4, height = 4 } = await sharp(image).metadata();
  const gains = await sharp(image)
    .grayscale()
    .resize(Math.ceil(width / factor), Math.ceil(height / factor), { fit: 'fill' })
    .jpeg({ quality: 100 })
    .toBuffer();
  const map = withSegments(
    gains,
    xmpSegment(
      'hdrgm:GainMapMin="0" hdrgm:GainMapMax="2" hdrgm:Gamma="1" hdrgm:OffsetSDR="0.015625" hdrgm:OffsetHDR="0.015625" hdrgm:HDRCapacityMin="0" hdrgm:HDRCapacityMax="2" hdrgm:BaseRenditionIsHDR="False"',
    ),
  );
  const jpeg = await sharp(image)
    .withExif({ IFD0: { Copyright: 'me' }, IFD3: { GPSLatitude: '51/1 30/1 0/1' } })
    .withMetadata({ orientation, icc })
    .jpeg({ quality: 95 })
    .toBuffer();
  const directory = `<Container:Directory><rdf:Seq><rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="Primary" Item:Mime="image/jpeg"/></rdf:li><rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="GainMap" Item:Mime="image/jpeg" Item:Length="${map.length}"/></rdf:li></rdf:Seq></Container:Directory>`;
  const xmp = xmpSegment('', directory);
  const length = jpeg.length + xmp.length + multiPicture([0, 0], 0).length;
  const index = multiPicture([length, map.length], 2 + xmp.length + 8);
  return Buffer.concat([withSegments(jpeg, xmp, index), map]);
}
