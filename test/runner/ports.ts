/**
 * Ports for the tests' programs: below the range for outgoing connections, which could take them
 * first, and above the last port that fetch rejects.
 */
const [first, end] = [10_100, 32_000] as const;

const variable = 'TEST_PORTS';

/**
 * Returns the variable that limits a test process to its share of the ports. Programs bind a port
 * some time after the test has chosen it, and other test processes must not choose it meanwhile.
 */
export function portShare(index: number, shares: number): Readonly<Record<string, string>> {
  const size = Math.floor((end - first) / shares);
  return { [variable]: `${first + index * size}-${first + (index + 1) * size}` };
}

/** Returns the first and the end of this process's ports; all ports without a runner. */
export function ownPorts(): readonly [first: number, end: number] {
  const [, from, to] = /^(\d+)-(\d+)$/.exec(process.env[variable] ?? '') ?? [];
  return from === undefined || to === undefined ? [first, end] : [Number(from), Number(to)];
}
