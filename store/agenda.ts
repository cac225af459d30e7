import { setTimeout as sleep } from 'node:timers/promises';
import { MongoJobRepository } from '@agendajs/mongo-backend';
import { Agenda, type AgendaBackend } from 'agenda';
import { type Db, ObjectId } from 'mongodb';

export const jobsCollection = 'jobs';

const reconnectEveryMs = 1_000;

/** Thrown when the state of a job is saved whose lock has meanwhile gone to another. */
export class LockLost extends Error {
  override readonly name = 'LockLost';
}

/**
 * Agenda saves a job's state whoever holds it (agenda/agenda#589). After a pause longer than its
 * lock, a worker would take the job away from the next one that does it.
 */
class HeldJobs extends MongoJobRepository {
  override async saveJobState(
    ...[job, options]: Parameters<MongoJobRepository['saveJobState']>
  ): Promise<void> {
    const held = await this.collection.findOne(
      {
        _id: new ObjectId(String(job._id)),
        lockedAt: { $gt: new Date(0) },
        lastModifiedBy: options?.lastModifiedBy ?? null,
      },
      { projection: { _id: 1 } },
    );
    if (held === null) throw new LockLost();
    await super.saveJobState(job, options);
  }
}

class StoreBackend implements AgendaBackend {
  readonly name = 'MongoDB';
  readonly ownsConnection = false;
  readonly repository: MongoJobRepository;

  constructor(db: Db) {
    this.repository = new HeldJobs({ mongo: db, db: { collection: jobsCollection } });
  }

  /** Agenda begins to connect when it is made and lets a failure of that go unhandled. */
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
    // The connection is the store's.
  }
}

/** An Agenda on the store's connection; it becomes ready when the store answers. */
export function createAgenda(
  db: Db,
  options: Omit<ConstructorParameters<typeof Agenda>[0], 'backend'> = {},
): Agenda {
  return new Agenda({ ...options, backend: new StoreBackend(db) });
}
