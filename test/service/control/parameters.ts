import { Agent } from 'node:http';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import fc, { type Arbitrary } from 'fast-check';
import type { Test } from 'tap';
import { type Control, prefix } from './control.ts';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: { readonly type: string; readonly pattern?: string };
  readonly example: unknown;
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly content: { readonly 'application/json': { readonly example: unknown } };
  };
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Returns texts that nearly match the example. */
const damaged = ({ example }: Parameter): Arbitrary<string> =>
  fc.tuple(fc.nat(), fc.nat(2), fc.constantFrom('', '0', 'A', '.', '-')).map(([at, lost, put]) => {
    const text = String(example);
    const place = at % (text.length + 1);
    return text.slice(0, place) + put + text.slice(place + lost);
  });

/** Texts that look like a host, a name or a number. */
const examples = ['0.5', '127.1', '1.2.3.4:0443', '0'.repeat(300), 'null', '007', '1e2', ' 5'].map(
  (text): [string] => [text],
);

const arbitraryValues = (parameter: Parameter): Arbitrary<string> =>
  fc
    .oneof(
      { weight: 4, arbitrary: damaged(parameter) },
      { weight: 2, arbitrary: fc.domain() },
      fc.integer({ min: -2, max: 1_000 }).map(String),
      fc.string({ unit: 'binary', maxLength: 40 }),
    )
    // Path segments are never empty, and URLs resolve dot segments.
    .filter((text) => !/^\.{0,2}$/.test(text));

const ajv = new Ajv2020({ strict: false });
formats.default(ajv);

/** Converts a text to its schema type. */
function typed({ schema }: Parameter, text: string): unknown {
  if (schema.type === 'integer' && /^-?\d+$/.test(text)) return Number(text);
  return schema.type === 'boolean' && /^(?:true|false)$/.test(text) ? text === 'true' : text;
}

/**
 * Checks that the service rejects every path or query parameter that violates its schema. `numRuns`
 * applies per parameter.
 */
export async function parameters(t: Test, control: Control, numRuns: number): Promise<void> {
  const response = await fetch(`${control.service.url}/openapi.json`);
  const { paths } = (await response.json()) as Document;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const counts: Record<string, { accepted: number; refused: number }> = {};
  for (const [template, methods] of Object.entries(paths)) {
    if (!template.startsWith(prefix)) continue;
    for (const [method, { operationId, parameters: all = [], requestBody }] of Object.entries(
      methods,
    )) {
      // Responses in CSV are not those that `call` checks, and a header cannot contain any text.
      const own = all.filter(
        ({ name, in: place }) => !['projectId', 'format'].includes(name) && place !== 'header',
      );
      if (own.length === 0) continue;
      const project = await control.project(['a.example']);
      const json = requestBody?.content['application/json'].example;
      for (const parameter of own) {
        const { name } = parameter;
        const isValid = ajv.compile(parameter.schema);
        const count = { accepted: 0, refused: 0 };
        counts[`${operationId} ${name}`] = count;
        const property = fc.asyncProperty(arbitraryValues(parameter), async (text) => {
          const path = template
            .slice(prefix.length)
            .replace('{projectId}', project)
            .replace(/\{(\w+)\}/, () => encodeURIComponent(text.toWellFormed()));
          const query = parameter.in === 'query' ? `?${new URLSearchParams({ [name]: text })}` : '';
          const { status, body } = await control.call(method.toUpperCase(), path + query, {
            agent,
            ...(json === undefined ? {} : { json }),
          });
          if (status === 400) count.refused += 1;
          if (status < 300) count.accepted += 1;
          if (![200, 201, 202, 204, 400, 404, 409].includes(status)) {
            throw new Error(`${status} ${JSON.stringify(body)}`);
          }
          if (status < 300 && !isValid(typed(parameter, text.toWellFormed()))) {
            throw new Error(`accepted: ${JSON.stringify(text)}`);
          }
        });
        await t.resolves(fc.assert(property, { numRuns, examples }), `${operationId} ${name}`);
      }
    }
  }
  t.comment(JSON.stringify(counts));
}
