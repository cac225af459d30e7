import type { Db } from 'mongodb';
import { isBackgroundToken } from '../../contract/background-token.ts';
import { withTimeout } from '../../store/deadline.ts';
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

  /** Whether a token is valid for a request's target; false while the secret cannot be loaded. */
  async verify(target: string, token: string): Promise<boolean> {
    // Any client can send a token: no image waits for a store that is known to be unavailable.
    if (this.#secret === null && !this.#storeAvailable()) return false;
    try {
      this.#secret ??= withTimeout(findDeployment(this.#db)).then(
        (found) => found.backgroundSecret,
      );
      return isBackgroundToken(await this.#secret, target, token, Date.now());
    } catch {
      this.#secret = null;
      return false;
    }
  }
}
