import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { addedNiceness } from '../priority.ts';

export interface ProcessLimits {
  /** Maximum resident memory. */
  readonly memoryBytes: number;
  /** Maximum CPU time in its life. */
  readonly cpuSeconds: number;
}

/** The fonts of processes that draw texts and SVGs. */
export interface ProcessFonts {
  /** The operator's folder, or null. */
  readonly added: string | null;
}

/**
 * Address space beyond the resident memory. Node 20 reserves 0.8 GB at start, Node 24 1.2 GB, and
 * allocators reserve more than they use. A WebAssembly decoder reserves up to 2 GB, its memory's
 * maximum. Node 22 reserves as much again for its own WebAssembly memory, both in the process and
 * in a decoder's thread (22.23.3).
 */
const reservedBytes = (process.versions.node.startsWith('22.') ? 8 : 4) * 2 ** 30;

const nodeOptions = [
  // Pixels are outside of the heap.
  '--max-old-space-size=128',
  // The trap handler reserves 10 GB of address space per WebAssembly memory, and Node 22 uses
  // WebAssembly for its HTTP parser.
  '--disable-wasm-trap-handler',
  // 2 GiB: Node 22 reserves the maximum of every WebAssembly memory.
  '--wasm-max-mem-pages=32768',
];

/**
 * Variables to pass on, for fonts and native libraries. Others can contain secrets.
 */
const passedVariables = [
  'HOME',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'LD_LIBRARY_PATH',
  'DYLD_LIBRARY_PATH',
  'XDG_CACHE_HOME',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_DATA_DIRS',
  'FONTCONFIG_PATH',
  'FONTCONFIG_FILE',
  'FONTCONFIG_SYSROOT',
];

/**
 * Starts a process running `entry`, limited by the operating system and with no descriptor but the
 * channel. macOS lacks `ulimit -v`, so there only the process itself checks its memory.
 *
 * @param addressSpaceLimited false omits `ulimit -v`, for a Node that reserves more
 * @param folder for its temporary files, which its owner removes
 * @param fonts null for the machine's fonts, which SVG uses
 */
export function launchTransformProcess(
  entry: URL,
  { memoryBytes, cpuSeconds }: ProcessLimits,
  addressSpaceLimited: boolean,
  folder: string,
  fonts: ProcessFonts | null,
): ChildProcess {
  const kibibytes = Math.ceil((memoryBytes + reservedBytes) / 1024);
  const limits = [
    ...(addressSpaceLimited ? [`ulimit -v ${kibibytes}`] : []),
    `ulimit -t ${cpuSeconds}`,
    'ulimit -c 0',
    // When memory is short, the kernel ends this process instead of the front end.
    'echo 1000 >/proc/self/oom_score_adj',
  ];
  const limited = limits.map((limit) => `${limit} 2>/dev/null;`).join(' ');
  // Tools such as test runners set NODE_OPTIONS, and the modules that it preloads can exceed these
  // limits. Starting takes as much CPU time as a transform, so the start runs at the transforms'
  // priority too.
  const script = `unset NODE_OPTIONS; ${limited} exec nice -n ${addedNiceness} "$@"`;
  // TypeScript sources need this process's loader.
  const loader = entry.pathname.endsWith('.ts') ? process.execArgv : [];
  const node = [process.execPath, ...nodeOptions, ...loader];
  const fontArguments = fonts === null ? [] : [fonts.added ?? ''];
  return fork(fileURLToPath(entry), [`${memoryBytes}`, `${cpuSeconds}`, folder, ...fontArguments], {
    execPath: '/bin/sh',
    execArgv: ['-c', script, 'sh', ...node],
    env: environment(folder),
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
}

/**
 * Two arenas and two threads suffice for a transform, and keep the address space small. glibc
 * returns pixel buffers to the system immediately only if its mmap threshold is set: otherwise it
 * grows to 32 MiB. Huge pages, if the system offers them, avoid page faults for these buffers: 15%
 * of the CPU time for decoding a 6-megapixel AVIF.
 */
function environment(folder: string): Record<string, string> {
  const passed = passedVariables.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(passed),
    TMPDIR: folder,
    MALLOC_ARENA_MAX: '2',
    MALLOC_MMAP_THRESHOLD_: String(2 ** 20),
    GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1',
    UV_THREADPOOL_SIZE: '2',
  };
}
