import { latin1, latin1Text, none } from './bytes.ts';
import { be16 } from './chunks.ts';
import { createResource, dataSet } from './embed.ts';
import { createProfile, readTags } from './icc.ts';
import { type Format, opened, type Part, readContent } from './part-tree.ts';

/** The header is the part `head`. Tags can appear in any order. */
export const icc: Format = {
  read: (bytes) => [
    { type: 'head', data: bytes.subarray(0, 128) },
    ...readTags(bytes).map(({ signature, data }) => ({ type: signature, data })),
  ],
  file: (parts, isChecked) => {
    const head = parts.find(({ type }) => type === 'head')?.data ?? Buffer.alloc(128);
    const tags = parts.flatMap((part) => {
      if (part.type === 'head') return [];
      const tag = {
        signature: part.type.padEnd(4).slice(0, 4),
        data: readContent(part, isChecked),
      };
      return new Array(Math.min(part.times ?? 1, 50_000)).fill(tag);
    });
    const profile = createProfile(Buffer.concat([head, Buffer.alloc(128)]), tags);
    for (const [index, { statedLength }] of parts.entries()) {
      const at = 132 + 12 * index - 4;
      if (statedLength !== undefined && at + 4 <= profile.length)
        profile.writeUInt32BE(statedLength >>> 0, at);
    }
    return profile;
  },
};

/** Photoshop resources, with their numbers as types. */
export const resources: Format = {
  read: (bytes) => {
    const parts: Part[] = [];
    for (
      let at = 0;
      latin1Text(bytes.subarray(at, at + 4)) === '8BIM' && at + 12 <= bytes.length;
    ) {
      const start = at + 6 + (((bytes[at + 6] ?? 0) + 2) & ~1) + 4;
      const [id, length] = [bytes.readUInt16BE(at + 4), bytes.readUInt32BE(start - 4)];
      const data = bytes.subarray(start, start + length);
      const type = String(id);
      parts.push(id === 0x0404 ? opened(type, data, 0, dataSets) : { type, data });
      at = start + length + (length & 1);
    }
    return parts;
  },
  encodePart: ({ type, statedLength }, content) => {
    const resource = createResource(Number(type) & 0xffff, content);
    if (statedLength !== undefined) resource.writeUInt32BE(statedLength >>> 0, 8);
    return resource;
  },
};

/** Data sets of IPTC-IIM, with the types `record/number`. */
export const dataSets: Format = {
  read: (bytes) => {
    const parts: Part[] = [];
    for (let at = 0; bytes[at] === 0x1c && at + 5 <= bytes.length; ) {
      const end = at + 5 + bytes.readUInt16BE(at + 3);
      parts.push({ type: `${bytes[at + 1]}/${bytes[at + 2]}`, data: bytes.subarray(at + 5, end) });
      at = end;
    }
    return parts;
  },
  encodePart: ({ type, statedLength }, content) => {
    const [record = 0, number = 0] = type.split('/').map(Number);
    const whole = dataSet(record, number, content);
    if (statedLength !== undefined) be16(statedLength & 0xffff).copy(whole, 3);
    return whole;
  },
};

const token = /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!\[CDATA\[[\s\S]*?\]\]>|<[^>]*>|[^<]+/g;

/** Elements and texts. An element's first part contains its attributes. */
export const xml: Format = {
  read: (bytes) => {
    const top: Part[] = [];
    const open = [top];
    for (const [text] of latin1Text(bytes).matchAll(token)) {
      const [, name] = /^<([\w:.-]+)/.exec(text) ?? [];
      const parts = open.at(-1) ?? top;
      if (text.startsWith('</')) open.pop();
      else if (name === undefined) parts.push({ type: 'text', data: latin1(text) });
      else {
        const inside: Part[] = [
          { type: '@', data: none, inside: { format: attributes, parts: readAttributes(text) } },
        ];
        parts.push({ type: name, data: none, inside: { format: xml, parts: inside } });
        if (!text.endsWith('/>')) open.push(inside);
      }
    }
    return top;
  },
  encodePart: ({ type, inside }, content) => {
    if (inside === undefined) return content;
    const [before, behind] = type === '@' ? ['', '>'] : [`<${type}`, `</${type}>`];
    return Buffer.concat([latin1(before), content, latin1(behind)]);
  },
};

const readAttributes = (tag: string): Part[] =>
  [...tag.matchAll(/([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)].map(
    ([, type = '', value, other = '']) => ({ type, data: latin1(value ?? other) }),
  );

/** Copies of an attribute have distinct names, as XML requires. */
const attributes: Format = {
  read: () => [],
  file: (parts) =>
    Buffer.concat(
      parts.flatMap(({ type, data, times = 1 }) => {
        const names = Array.from({ length: Math.min(times, 100_000) }, (_, i) => type + (i || ''));
        const value = latin1Text(data.subarray(0, 10_000_000 / names.length)).replaceAll(
          /["<]/g,
          '.',
        );
        return names.map((name) => latin1(` ${name}="${value}"`));
      }),
    ),
};
