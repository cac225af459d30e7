import type { Db } from 'mongodb';
import { isBackgroundToken } from '../../contract/background-token.ts';
import { answered } from '../../store/deadline.ts';
import { findDeployment } from '../../store/deployment.ts';

/** Verifies the tokens by which workers mark their requests as background work. */
export class BackgroundTokens {
  readonly #db: Db;
  readonly #storeAvailable: () => boolean;
  #secret: Promise<string> | null = null;

  constructor(db: Db, storeAvailable: () => boolean) {
    this.#db = db;
    this.#storeAvailable = storeAvailable;
  }

  /** Whether a token marks this request as background work; false while that cannot be told. */
  async verify(target: string, token: string): Promise<boolean> {
    // Anybody can send a token: no image waits for a store that is known to be unavailable.
    if (this.#secret === null && !this.#storeAvailable()) return false;
    try {
      this.#secret ??= this.#load();
      return isBackgroundToken(await this.#secret, target, token, Date.now());
    } catch {
      this.#secret = null;
      return false;
    }
  }

  async #load(): Promise<string> {
    const { backgroundSecret } = await answered(findDeployment(this.#db));
    return backgroundSecret;
  }
}
