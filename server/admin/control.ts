import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Settings } from '../../contract/settings/table.ts';
import { AddressGuard } from '../../pool/source/guard.ts';
import { JobQueue } from '../../store/jobs.ts';
import type { Store } from '../../store/open.ts';
import { Prewarms } from '../../store/prewarms.ts';
import type { PresetValue } from '../../store/project.ts';
import { isParameter, readOptions } from '../image/address.ts';
import { type ParameterName, parameters } from '../image/parameters.ts';
import type { ValueSchema } from '../image/values.ts';

// What commands use of the control plane. They load it only to run, because loading takes time.
export { prewarmInput, queuePrewarm } from '../control/resources/prewarms.ts';
export {
  createProject,
  createProjectInput,
  deleteProject,
  updateProject,
  updateProjectInput,
} from '../control/resources/projects.ts';
export { purgeImages, purgeInput } from '../control/resources/purges.ts';
export { createSigningSecret, signUrl } from '../control/resources/signing.ts';
export { findProject } from '../control/services.ts';
export { requireValid } from '../control/validate.ts';

export function createServices(store: Store, settings: Settings) {
  const { purgeHookUrl, prewarmQueue, port, workerPort } = settings;
  const { projects, purges } = store;
  return {
    projects,
    prewarms: new Prewarms(store.db, prewarmQueue),
    purges,
    guard: new AddressGuard({ ...settings, own: { urls: [], ports: [port, workerPort] } }),
    queue: new JobQueue(store.db),
    callsPurgeHook: purgeHookUrl !== null,
    callbacks: null,
    // The processes of a running service find changes by polling the store.
    onChange: () => {},
  };
}

const ajv = new Ajv2020({ strict: false });
const accepts = (schema: ValueSchema, value: PresetValue): boolean => ajv.validate(schema, value);

/**
 * Returns a query as a preset, with canonical names and JSON values.
 * @throws ServiceError parameter_invalid
 */
export function presetOfQuery(query: string): Record<string, PresetValue> {
  const pairs = [...new URLSearchParams(query)];
  const entries = pairs.map(([spelling, text]) => {
    if (!isParameter(spelling)) return [spelling, text] as const;
    const [name = spelling] = Object.keys(readOptions(new Map([[spelling, text]])));
    return [name, jsonValue(name as ParameterName, text)] as const;
  });
  // Parse all pairs together to reject two aliases of one parameter.
  readOptions(new Map(pairs));
  return Object.fromEntries(entries);
}

/** Returns the equivalent JSON value that the schema accepts, or else the text. */
function jsonValue(name: ParameterName, text: string): PresetValue {
  const { schema, parse } = parameters[name];
  const word = text.toLowerCase();
  const flag = !['0', 'false'].includes(word);
  const meaning = JSON.stringify(parse(text));
  const candidates = [flag, Number(text), text, word];
  const same = (value: PresetValue) =>
    accepts(schema, value) && JSON.stringify(parse(String(value))) === meaning;
  return candidates.find(same) ?? text;
}
