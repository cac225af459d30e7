import { ServiceError } from '../../contract/errors.ts';
import { type Parameter, type ParameterName, parameterNames, parameters } from './parameters.ts';

type ValueOf<P> = P extends Parameter<infer T> ? T : never;

/** The options of a query, by canonical names; absent options have no key. */
export type Options = { readonly [N in ParameterName]?: ValueOf<(typeof parameters)[N]> };

/** Canonical names by every accepted name. */
const canonicalNames = new Map<string, ParameterName>(
  parameterNames.flatMap((name) =>
    [name, ...parameters[name].aliases].map((spelling) => [spelling, name] as const),
  ),
);

/** Canonical names and aliases of all parameters. */
export const parameterSpellings: readonly string[] = [...canonicalNames.keys()];

/** Whether a name is a parameter's canonical name or an alias. */
export const isParameter = (name: string): boolean => canonicalNames.has(name);

/**
 * Reads the options of a query; unknown names are ignored.
 * @throws ServiceError parameter_invalid naming the parameter and what it accepts
 */
export function readOptions(query: ReadonlyMap<string, string>): Options {
  const options: Record<string, unknown> = {};
  for (const [spelling, text] of query) {
    const name = canonicalNames.get(spelling);
    if (name === undefined) continue;
    if (name in options) {
      throw invalid(`${name} is given more than once, as ${spelling} too.`);
    }
    const value = parameters[name].parse(text);
    if (value === undefined) throw invalid(`${spelling} must be ${parameters[name].accepts}.`);
    options[name] = value;
  }
  return options as Options;
}

const invalid = (message: string) => new ServiceError('parameter_invalid', message);
