/**
 * Regular expression sources for hosts and URLs in requests, as precise as every dialect from
 * ECMA-262 to RE2 allows. Parsers check accepted values again.
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
 * Matches a name with a non-numeric last label, because a numeric label would make it an IPv4
 * address.
 * @param international also matches labels in other alphabets; UTS #46 cannot convert all of them
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

/** Hosts in allowlists: a name, including a wildcard, or an IP address. */
export const hostTextSource = `^(?:(?:\\*\\.)?${name(true)}|${ipv4}|${ipv6()})$`;

/** A host name in any spelling, without wildcard, and no IP address. */
export const hostNameSource = `^${name(true)}$`;

const longPort = '[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]';
/** A URL's port, which can start with zeros. */
const port = `(?:0*(?:[0-9]{1,4}|${longPort}))`;

/** A host, followed by its port unless the port is the scheme's default. */
export const authoritySource = `^(?:${name(true)}|${ipv4}|${ipv6()})(?::(?:[1-9][0-9]{0,3}|${longPort}))?$`;

/** With the format `uri`: an absolute http or https URL (RFC 3986) without userinfo. The format checks IPv6 addresses. */
export const httpUrlSource = `^[Hh][Tt][Tt][Pp][Ss]?://(?:${name(false)}|${ipv4}|\\[[0-9A-Fa-f:.]+\\])(?::${port})?(?:[/?#]|$)`;

/**
 * An http or https URL with a host longer than 253 characters (RFC 1035), not counting a final dot.
 */
export const longHostSource = '^[^/]*//[^/?#:]{253,254}[^/?#:.]';

/**
 * An http or https URL without userinfo and query, as a query value; its colon and slashes can be
 * encoded.
 */
export const endpointSource = `[Hh][Tt][Tt][Pp][Ss]?(?::|%3[Aa])(?:/|%2[Ff]){2}(?:${name(false)}|${ipv4})(?:(?::|%3[Aa])${port})?(?:(?:/|%2[Ff])[A-Za-z0-9._~/-]*)?`;
