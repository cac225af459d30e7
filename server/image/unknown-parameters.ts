import { ServiceError } from '../../contract/errors.ts';
import { similarName } from '../../contract/suggestion.ts';

/**
 * The parameters that advertisements, mailings and analytics append to the URLs of a page, in lower case, as the
 * services that read them document them.
 */
const trackingNames: ReadonlySet<string> = new Set(
  `_ga _gac _gl _ke _openstat cjevent dclid dm_i ef_id epik fbclid gbraid gclid gclsrc igsh igshid irclickid
  li_fat_id mc_cid mc_eid mkt_tok msclkid rb_clickid rdt_cid s_kwcid sccid srsltid trk ttclid twclid wbraid wickedid
  yclid ysclid`.split(/\s+/),
);
const trackingPrefixes = ['utm_', 'mtm_', 'matomo_', 'pk_', 'gad_', 'hsa_', '_hs', '__hs', 'vero_'];

/** Whether a parameter is for others, who know that images ignore it. */
export function isTracking(name: string): boolean {
  const lower = name.slice(0, 20).toLowerCase();
  return trackingNames.has(lower) || trackingPrefixes.some((prefix) => lower.startsWith(prefix));
}

/** The most names in a header, and the most characters of each. */
const maxNames = 5;
const maxNameLength = 40;

/** A string of RFC 9651, 3.3.3, without characters that it would have to escape. */
const quoted = (name: string): string =>
  `"${name.slice(0, maxNameLength).replace(/[^ !#-[\]-~]/g, '?')}"`;

/** The warnings of unknown parameters: items of a list of RFC 9651; '' for none. */
export function unknownWarnings(names: readonly string[]): string {
  const named = names.slice(0, maxNames).map((name) => `parameter_unknown;name=${quoted(name)}`);
  const others = names.length - named.length;
  return [...named, ...(others > 0 ? [`parameter_unknown;others=${others}`] : [])].join(', ');
}

/** @throws ServiceError parameter_invalid for the first of the unknown parameters */
export function refuseUnknown([name]: readonly string[], known: readonly string[]): void {
  if (name === undefined) return;
  const similar = similarName(name, known);
  const written = name.slice(0, maxNameLength).toWellFormed();
  const hint = similar === undefined ? '' : ` Did you mean ${similar}?`;
  throw new ServiceError('parameter_invalid', `${written} is not a parameter.${hint}`);
}
