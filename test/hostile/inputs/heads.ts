import { METHODS } from 'node:http';
import { type Random, seeded } from '../../../bench/load/generator.ts';
import { words } from './bytes.ts';

/** Malformed requests as bytes. */
export interface HostileHead {
  readonly what: string;
  /** Sent one after the other. */
  readonly pieces: readonly Buffer[];
  /** True for a valid request, which every server must serve. */
  readonly isValid: boolean;
}

type Made = string | ((random: Random) => string);

const lengths = [1, 10, 100, 1_000, 4_500, 10_000, 20_000, 100_000];
const counts = [10, 100, 1_000, 5_000];
const repeat = (part: string) => (random: Random) => part.repeat(random.pick(lengths));
const counted = (part: (i: number) => string) => (random: Random) =>
  Array.from({ length: random.pick(counts) }, (_, i) => part(i)).join('');
const made = (value: Made, random: Random) => (typeof value === 'string' ? value : value(random));

const oddMethods: readonly Made[] = ['PRI', 'get', 'BREW', '', 'GET\0', 'G ET', repeat('A')];
const methods = [...METHODS, ...oddMethods];
const versions = [
  ...words('HTTP/1.1 HTTP/1.1 HTTP/1.1 HTTP/1.1 HTTP/1.0 HTTP/0.9 HTTP/2.0 HTTP/1. http/1.1'),
  ...words('HTTP/11 FTP/1.1 HTTP/9999999999.1'),
  'HTTP/1.1 ',
  'HTTP/1.1\0',
  '',
];
const fieldNames = words(`
  Host Accept Accept-Encoding Accept-Language Authorization Cache-Control Connection Content-Length
  Content-Type Cookie DPR Expect Forwarded If-Match If-Modified-Since If-None-Match If-Range Keep-Alive
  Origin Range Referer Sec-CH-DPR Sec-CH-Width Sec-Fetch-Site TE Trailer Transfer-Encoding Upgrade
  Upgrade-Insecure-Requests Via Width X-Forwarded-For X-Request-Id X-Service-Api-Key baggage traceparent
  tracestate :path __proto__ X: \xff {}`);
const names: readonly Made[] = [...fieldNames, '', ' X', 'X Y', 'X\0', repeat('x')];
const fieldValues = words(`
  x 0 1 -1 +5 0x10 18446744073709551616 chunked close keep-alive Upgrade 100-continue identity * */*
  image/avif,image/webp,*/*;q=0.8 image/*;q=9e999 image/webp;q=1.00000000000000001
  bytes=0-0 bytes=-1 bytes=9-1 bytes=0-99999999999999999999 W/"x" " "\0" 2.0 99999 NaN ::1
  00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 00-0-0-0
  websocket h2c \0 \x7f \xff\xfe %0d%0a null {jndi:x} ../../x`);
const spacedValues = ['', ' ', '5, 5', 'gzip, chunked', 'x, chunked', 'Bearer ', 'Bearer sk_x'];
const values: readonly Made[] = [
  ...fieldValues,
  ...spacedValues,
  'Basic OjpA',
  '127.0.0.1, ::1, x',
  '\r',
  '\n',
  '\t',
  repeat('a'),
  repeat('a,'),
  repeat(' '),
  repeat('"'),
  repeat('\xe4'),
  repeat('a=b; '),
  repeat('127.0.0.1, '),
  counted((i) => `bytes=${i}-${i + 1},`),
  counted((i) => `${i}-${i},`),
  counted((i) => `image/x${i};q=0.${i},`),
  counted((i) => `"${i}",`),
];
const inserted = words(`
  %00 % %zz %c0%af %2e%2e/ ../ // \\ # ? & = ; @ : \0 \x01 \x7f \xff %ff %u0041 [ %5b {{7*7}} \u4f60
  %f0%9f%98%80 &project=x &url=http://127.0.0.1/ &w &w= &exp=1&sig=x &w=1e9 &bg=\0`);
/** Inserted into a target or appended to it. */
const inTarget: readonly Made[] = [
  ...inserted,
  ' ',
  repeat('a'),
  repeat('/'),
  repeat('%41'),
  repeat('../'),
  repeat('&w=1'),
  repeat('%e4%bd%a0'),
  counted((i) => `&a${i}=1`),
  counted((i) => `&wdith${i}=1`),
  counted((i) => `&w=${i}`),
];
const ends = ['\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\n', '\r', '\r\r\n', '\r\n ', '\0\r\n'];
const colons = [': ', ': ', ': ', ': ', ':', ' : ', ':\t', ':\x0b', '', ' ', '::'];
const chunked = ['0\r\n\r\n', '5\r\nabcde\r\n0\r\n\r\n', '-1\r\n'];
const bodies: readonly Made[] = ['', '', '', '{}', ...chunked, repeat('x')];

/** More than any server reads. */
const maxBytes = 200_000;
const usual = 'Host: x\r\n';
const hosts = ['', 'Host: x\r\nHost: y\r\n', 'host:\r\n', 'Host: \xff\r\n', 'Host: x:99999\r\n'];

/** @param targets of valid requests */
export function hostileHead(targets: readonly string[], seed: number, number: number): HostileHead {
  const random = seeded(Math.imul(seed, 0x85ebca6b) + number);
  const odd = (usually: string, chance: number, other: () => Made): string =>
    random.below(chance) === 0 ? made(other(), random) : usually;
  const field = (): string => {
    const name = made(random.pick(names), random);
    const value = made(random.pick(values), random);
    return `${name}${odd(': ', 20, () => random.pick(colons))}${value}${odd('\r\n', 20, () => random.pick(ends))}`;
  };
  const request = (): string => {
    const target = random.pick(targets);
    const place = random.below(2) === 0 ? target.length : random.below(target.length + 1);
    const inserted = odd('', 2, () => random.pick(inTarget));
    const changed = target.slice(0, place) + inserted + target.slice(place);
    const form = odd(changed, 12, () => random.pick(['*', 'x:1', `http://x${changed}`, '']));
    const method = odd('GET', 3, () => random.pick(methods));
    let head = `${method} ${form} ${odd('HTTP/1.1', 8, () => random.pick(versions))}\r\n`;
    head += odd(usual, 15, () => random.pick(hosts));
    for (let left = random.pick([0, 0, 1, 1, 2, 4, 30, 300]); left > 0; left--) {
      if (head.length < maxBytes) head += field();
    }
    head = odd(head, 20, () => head + head.repeat(random.below(9)));
    const end = odd('\r\n', 15, () => random.pick(['', '\n', '\r', '\0', '\r\n\r\n\r\n']));
    const whole = head.slice(0, 2 * maxBytes) + end + made(random.pick(bodies), random);
    return odd(whole, 12, () => whole.slice(0, random.below(whole.length)));
  };
  const isValid = random.below(12) === 0;
  const valid = `GET ${random.pick(targets)} HTTP/1.1\r\n${usual}\r\n`;
  const count = random.below(5) === 0 ? 1 + random.below(20) : 1;
  const text = isValid ? valid : Array.from({ length: count }, request).join('');
  const bytes = Buffer.from(text.slice(0, 5 * maxBytes), 'latin1');
  const cuts = Array.from({ length: random.pick([0, 0, 0, 1, 3, 6]) }, () =>
    random.below(bytes.length),
  ).sort((a, b) => a - b);
  const pieces = [0, ...cuts].map((from, index) => bytes.subarray(from, cuts[index]));
  const what = `${isValid ? 'a valid one' : `${count} requests`} in ${pieces.length} pieces, ${JSON.stringify(text.slice(0, 300))}`;
  return { what, pieces, isValid };
}
