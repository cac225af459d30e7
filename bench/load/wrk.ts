import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { outputOf } from '../servers/launch.ts';
import { temporaryFolder } from '../temporary-folder.ts';

export interface WrkRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface WrkOptions {
  /** Without a path. */
  readonly origin: string;
  readonly connections: number;
  readonly seconds: number;
  /** Sent one after the other, and then again from the first. */
  readonly requests: readonly WrkRequest[];
  readonly cpus: string | null;
}

/** Requests that got a response. */
export interface Rate {
  readonly perSecond: number;
  readonly requests: number;
}

/**
 * Runs wrk (github.com/wg/wrk), which is faster than a Node server.
 * @throws when a response is an error or a connection is lost
 */
export async function wrk(options: WrkOptions): Promise<Rate> {
  const { origin, connections, seconds, requests, cpus } = options;
  const folder = await temporaryFolder('wrk');
  try {
    const script = join(folder.path, 'requests.lua');
    await writeFile(script, lua(requests));
    const program = ['wrk', '-t1', `-c${connections}`, `-d${Math.max(1, Math.round(seconds))}s`];
    return parseOutput(await outputOf([...program, '-s', script, `${origin}/`], cpus));
  } finally {
    await folder.close();
  }
}

/** @throws when a request has failed */
export function parseOutput(printed: string): Rate {
  const problem = /Non-2xx or 3xx responses: \d+|Socket errors: .*/.exec(printed);
  const [, perSecond] = /Requests\/sec:\s+([\d.]+)/.exec(printed) ?? [];
  const [, requests] = /(\d+) requests in/.exec(printed) ?? [];
  if (problem !== null || perSecond === undefined || requests === undefined) {
    throw new Error(`wrk: ${problem?.[0] ?? (printed.trim() || 'no answer')}`);
  }
  return { perSecond: Number(perSecond), requests: Number(requests) };
}

/** A script that formats each distinct request once and repeats the sequence. */
function lua(requests: readonly WrkRequest[]): string {
  const known = new Map<string, number>();
  const order = requests.map((request) => {
    const key = JSON.stringify(request);
    const index = known.get(key) ?? known.size + 1;
    known.set(key, index);
    return index;
  });
  const formatted = [...known.keys()].map((key) => {
    const { path, headers }: WrkRequest = JSON.parse(key);
    const fields = Object.entries(headers).map(
      ([name, value]) => `[${quoted(name)}]=${quoted(value)}`,
    );
    const table = fields.length === 0 ? 'nil' : `{${fields.join(',')}}`;
    return `known[#known + 1] = wrk.format('GET', ${quoted(path)}, ${table})`;
  });
  return `local known, at = {}, 0
local order = {${order.join(',')}}
function init()
${formatted.join('\n')}
end
function request()
  at = at % #order + 1
  return known[order[at]]
end
`;
}

/** A string of Lua: JSON's escapes of printable characters are also Lua's. */
const quoted = (value: string): string => JSON.stringify(value);
