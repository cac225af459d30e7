import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { end, ephemeralPort, startCommand, untilOk } from '../servers/launch.ts';
import { processTree } from '../servers/processes.ts';

/** A service with its own data folder. It stands for one machine of a fleet. */
export class FleetMachine {
  readonly name: string;
  readonly port: number;
  readonly #folder: string;
  readonly #env: NodeJS.ProcessEnv;
  #process: ReturnType<typeof startCommand> | null = null;

  private constructor(name: string, port: number, folder: string, env: NodeJS.ProcessEnv) {
    this.name = name;
    this.port = port;
    this.#folder = join(folder, name);
    this.#env = env;
  }

  /**
   * @param folder that contains the data folders of all machines
   * @param settings in addition to its port and folder
   */
  static async create(
    name: string,
    folder: string,
    settings: Readonly<Record<string, string>>,
  ): Promise<FleetMachine> {
    const port = await ephemeralPort();
    const env = {
      ...process.env,
      ...settings,
      SERVICE_HOST: '127.0.0.1',
      SERVICE_PORT: String(port),
      SERVICE_OPS_PORT: '0',
      // The balancer detects within this time that the machine stops.
      SERVICE_DRAIN_DELAY_MS: '3000',
      SERVICE_LOG_LEVEL: process.env['SERVICE_LOG_LEVEL'] ?? 'error',
      SERVICE_DATA_DIR: join(folder, name),
    };
    return new FleetMachine(name, port, folder, env);
  }

  /** Without a slash at the end. */
  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** Resolves when the machine is ready. */
  async start(): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    const file = fileURLToPath(new URL('../../../dist/server/main.js', import.meta.url));
    const options = { env: this.#env, cwd: this.#folder };
    this.#process = startCommand([process.execPath, file], null, options);
    await untilOk(`${this.url}/api/ready`, this.#process);
  }

  /** Ends the service by SIGTERM, as an operator does. */
  async stop(): Promise<void> {
    await end(this.#process);
    this.#process = null;
  }

  /** Simulates a power failure: sends SIGKILL to all processes of the service. */
  async kill(): Promise<void> {
    for (const pid of await processTree(this.pid)) process.kill(pid, 'SIGKILL');
    await this.stop();
  }

  /** Deletes the data folder. */
  async erase(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 10 });
  }
}
