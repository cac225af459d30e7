import type { Db } from 'mongodb';
import { isBackgroundToken } from '../../contract/background-token.ts';
import { findDeployment } from '../../store/deployment.ts';

/** Verifies the tokens by which workers mark their requests as background work. */
export class BackgroundTokens {
  readonly #db: Db;
  #secret: Promise<string> | null = null;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Whether a token marks this request as background work; false while the store is unavailable. */
  async verify(target: string, token: string): Promise<boolean> {
    this.#secret ??= findDeployment(this.#db).then(({ backgroundSecret }) => backgroundSecret);
    try {
      return isBackgroundToken(await this.#secret, target, token, Date.now());
    } catch {
      this.#secret = null;
      return false;
    }
  }
}
