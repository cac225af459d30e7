import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pinned } from '../servers/launch.ts';

/** wrk (github.com/wg/wrk), a load generator that a Node server does not keep busy. */

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

/** How many requests were answered. */
export interface Answered {
  readonly perSecond: number;
  readonly requests: number;
}

/** @throws when one answer is an error or a connection was lost */
export async function wrk(options: WrkOptions): Promise<Answered> {
  const { origin, connections, seconds, requests, cpus } = options;
  const folder = await mkdtemp(join(tmpdir(), 'image-delivery-wrk-'));
  try {
    const script = join(folder, 'requests.lua');
    await writeFile(script, lua(requests));
    const program = ['wrk', '-t1', `-c${connections}`, `-d${Math.max(1, Math.round(seconds))}s`];
    const command = pinned([...program, '-s', script, `${origin}/`], cpus);
    const [name = '', ...args] = command;
    const child = spawn(name, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    return answered(await text(child.stdout));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The figures in what wrk prints. */
export function answered(printed: string): Answered {
  const trouble = /Non-2xx or 3xx responses: \d+|Socket errors: .*/.exec(printed);
  const [, perSecond] = /Requests\/sec:\s+([\d.]+)/.exec(printed) ?? [];
  const [, requests] = /(\d+) requests in/.exec(printed) ?? [];
  if (trouble !== null || perSecond === undefined || requests === undefined) {
    throw new Error(`wrk: ${trouble?.[0] ?? (printed.trim() || 'no answer')}`);
  }
  return { perSecond: Number(perSecond), requests: Number(requests) };
}

/** A script that formats each different request once and repeats the sequence. */
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
