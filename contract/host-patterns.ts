/**
 * Sources of patterns for hosts and URLs of requests, as precise as a pattern can be that is valid in all dialects of
 * regular expressions, from ECMA-262 to RE2. What they accept is checked again when it is read.
 */

const byte = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const ipv4 = `${byte}(?:\\.${byte}){3}`;

/** RFC 4291, 2.2: in full, or with any number of groups before `::`. */
function ipv6(): string {
  const group = '[0-9A-Fa-f]{1,4}';
  const full = [`(?:${group}:){7}${group}`, `(?:${group}:){6}${ipv4}`];
  const shortened = Array.from({ length: 8 }, (_, left) => {
    const before = left === 0 ? '' : group + (left === 1 ? '' : `(?::${group}){${left - 1}}`);
    const after = [
      ...(left < 7 ? [`(?:${group}:){0,${6 - left}}${group}`] : []),
      ...(left < 6 ? [`(?:${group}:){0,${5 - left}}${ipv4}`] : []),
    ];
    return `${before}::${after.length === 0 ? '' : `(?:${after.join('|')})?`}`;
  });
  return `\\[(?:${[...full, ...shortened].join('|')})\\]`;
}

/**
 * A name whose last label is no number, which would make it an IPv4 address.
 * @param international labels in other alphabets too; not every one can be converted (UTS #46)
 */
function name(international: boolean): string {
  const edge = '[A-Za-z0-9_]';
  const middle = '[A-Za-z0-9_-]';
  const other = international ? `|(?:${middle}{0,62}[^\\x00-\\x7f])+${middle}{0,62}` : '';
  const label = `(?:${edge}(?:${middle}{0,61}${edge})?${other})`;
  const withLetter = `[0-9]{0,62}[A-Za-z_](?:${middle}{0,61}${edge})?`;
  const last = `(?:${withLetter}|[0-9]{1,61}-${middle}{0,60}${edge}${other})`;
  return `(?:${label}\\.)*${last}\\.?`;
}

/** Host texts of allowlists: a name, also with a wildcard, or an IP address. */
export const hostTextSource = `^(?:(?:\\*\\.)?${name(true)}|${ipv4}|${ipv6()})$`;

/** A host name in any spelling, without wildcard, and no IP address. */
export const hostNameSource = `^${name(true)}$`;

const longPort = '[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]';
/** Of a URL, which may have zeros in front. */
const port = `(?:0*(?:[0-9]{1,4}|${longPort}))`;

/** A host, with its port if it is not that of the scheme. */
export const authoritySource = `^(?:${name(true)}|${ipv4}|${ipv6()})(?::(?:[1-9][0-9]{0,3}|${longPort}))?$`;

/** With the format `uri`: an absolute http or https URL (RFC 3986) without userinfo. The format checks IPv6 addresses. */
export const httpUrlSource = `^[Hh][Tt][Tt][Pp][Ss]?://(?:${name(false)}|${ipv4}|\\[[0-9A-Fa-f:.]+\\])(?::${port})?(?:[/?#]|$)`;

/** An http or https URL whose host has more than 253 characters (RFC 1035), a dot at its end not counted. */
export const longHostSource = '^[^/]*//[^/?#:]{253,254}[^/?#:.]';

/** An http or https URL without userinfo and query, as a value of a query; its colon and slashes may be encoded. */
export const endpointSource = `[Hh][Tt][Tt][Pp][Ss]?(?::|%3[Aa])(?:/|%2[Ff]){2}(?:${name(false)}|${ipv4})(?:(?::|%3[Aa])${port})?(?:(?:/|%2[Ff])[A-Za-z0-9._~/-]*)?`;
