import { setTimeout as sleep } from 'node:timers/promises';
import { MongoJobRepository } from '@agendajs/mongo-backend';
import { Agenda, type AgendaBackend } from 'agenda';
import { type Db, ObjectId } from 'mongodb';

export const jobsCollection = 'jobs';

const reconnectEveryMs = 1_000;

/** Thrown when a worker saves the state of a job that another worker has locked in the meantime. */
export class LockLost extends Error {
  override readonly name = 'LockLost';
}

/**
 * Agenda saves a job's state without checking the lock (agenda/agenda#589). A worker that was
 * paused for longer than its lock would overwrite the state of the worker that runs the job now.
 */
class LockCheckedJobs extends MongoJobRepository {
  override async saveJobState(
    ...[job, options]: Parameters<MongoJobRepository['saveJobState']>
  ): Promise<void> {
    const locked = await this.collection.findOne(
      {
        _id: new ObjectId(String(job._id)),
        lockedAt: { $gt: new Date(0) },
        lastModifiedBy: options?.lastModifiedBy ?? null,
      },
      { projection: { _id: 1 } },
    );
    if (locked === null) throw new LockLost();
    await super.saveJobState(job, options);
  }
}

class StoreBackend implements AgendaBackend {
  readonly name = 'MongoDB';
  readonly ownsConnection = false;
  readonly repository: MongoJobRepository;

  constructor(db: Db) {
    this.repository = new LockCheckedJobs({ mongo: db, db: { collection: jobsCollection } });
  }

  /** Agenda connects in its constructor and does not handle a failure, so this retries. */
  async connect(): Promise<void> {
    for (;;) {
      try {
        return await this.repository.connect();
      } catch {
        await sleep(reconnectEveryMs, undefined, { ref: false });
      }
    }
  }

  async disconnect(): Promise<void> {
    // The store closes the connection.
  }
}

/** An Agenda on the store's connection; it becomes ready when the store is available. */
export function createAgenda(
  db: Db,
  options: Omit<ConstructorParameters<typeof Agenda>[0], 'backend'> = {},
): Agenda {
  return new Agenda({ ...options, backend: new StoreBackend(db) });
}
