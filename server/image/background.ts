import type { Db } from 'mongodb';
import { isBackgroundToken } from '../../contract/background-token.ts';
import { findDeployment } from '../../store/deployment.ts';

/** Tells requests of workers from those of others who only say so. */
export class BackgroundSecret {
  readonly #db: Db;
  #secret: Promise<string> | null = null;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Whether a token marks this request as background work; false when the store is away. */
  async marks(target: string, token: string): Promise<boolean> {
    this.#secret ??= findDeployment(this.#db).then(({ backgroundSecret }) => backgroundSecret);
    try {
      return isBackgroundToken(await this.#secret, target, token, Date.now());
    } catch {
      this.#secret = null;
      return false;
    }
  }
}
