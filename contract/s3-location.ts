import { parseAddress } from './networks.ts';
import { percentDecode } from './url-text.ts';

/** A bucket in an S3-compatible service, or the objects in it whose keys start with a prefix. */
export interface S3Location {
  readonly bucket: string;
  /** Empty, or ends with a slash. Decoded. */
  readonly prefix: string;
  readonly region: string;
  /** The service's http or https URL, without a slash at its end. */
  readonly endpoint: string;
  /** Where requests name the bucket: in the path, or in the host. */
  readonly style: 'path' | 'virtual';
}

/** The accepted values, for messages. */
export const s3LocationForm =
  '`s3://bucket/prefix?region=…` for AWS, or `s3://bucket/prefix?endpoint=https://…` for another service, without credentials';

/** The rules of AWS for new buckets. */
const bucketPattern = /^(?!.*\.\.)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const regionPattern = /^[a-z0-9][a-z0-9-]{0,62}$/;
/** A key can have 1,024 bytes. */
const maxPrefixBytes = 512;
const parameterNames = ['region', 'endpoint', 'style'];

/**
 * Parses `s3://bucket/prefix?region=…&endpoint=…&style=path|virtual`. Without an endpoint the
 * service is AWS, which requires the region. The default style is `virtual` for AWS, unless the
 * bucket name contains a dot, which AWS's certificate does not cover, and `path` for other
 * services, with the default region `us-east-1`.
 *
 * @throws RangeError without the value, which can contain a misplaced secret
 */
export function parseS3Location(text: string): S3Location {
  const match = /^s3:\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(text);
  if (match === null) throw new RangeError('it is not an s3:// URL, or has a fragment');
  const [, bucket = '', path = '', query = ''] = match;
  if (bucket.includes('@')) throw new RangeError('it must not contain credentials');
  if (!bucketPattern.test(bucket)) throw new RangeError('its bucket has no valid name');
  const parameters = new Map(new URLSearchParams(query));
  for (const name of parameters.keys()) {
    if (!parameterNames.includes(name)) {
      throw new RangeError(`its parameters are ${parameterNames.join(', ')}`);
    }
  }
  const given = parameters.get('endpoint');
  const region = parameters.get('region') ?? (given === undefined ? '' : 'us-east-1');
  if (region === '') throw new RangeError('it has no region, and no endpoint of another service');
  if (!regionPattern.test(region)) throw new RangeError('its region is not valid');
  const byDefault = given === undefined && !bucket.includes('.') ? 'virtual' : 'path';
  const style = parameters.get('style') ?? byDefault;
  if (style !== 'path' && style !== 'virtual') throw new RangeError('style is path or virtual');
  const endpoint = given === undefined ? awsEndpoint(region) : parseEndpoint(given);
  if (style === 'virtual' && isAddress(endpoint)) {
    throw new RangeError('an endpoint that is an IP address requires style=path');
  }
  return { bucket, prefix: parsePrefix(path), region, endpoint, style };
}

const awsEndpoint = (region: string): string =>
  `https://s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;

const isAddress = (endpoint: string): boolean =>
  parseAddress(new URL(endpoint).hostname.replace(/^\[(.*)\]$/, '$1')) !== null;

function parseEndpoint(text: string): string {
  const url = /^https?:\/\/[^@?#]+$/.test(text) && URL.canParse(text) ? new URL(text) : null;
  if (url !== null) return url.href.replace(/\/+$/, '');
  throw new RangeError('its endpoint is not an http or https URL without credentials and query');
}

function parsePrefix(path: string): string {
  const text = path.replace(/\/$/, '');
  if (text === '') return '';
  const prefix = percentDecode(text);
  const segments = prefix?.split('/') ?? [];
  const isValid =
    prefix !== null &&
    !/\p{Cc}/u.test(prefix) &&
    Buffer.byteLength(prefix) < maxPrefixBytes &&
    segments.every((segment) => !['', '.', '..'].includes(segment));
  if (!isValid) throw new RangeError('its prefix is not valid');
  return `${prefix}/`;
}
