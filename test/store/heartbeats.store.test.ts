import { MongoClient } from 'mongodb';
import t from 'tap';
import { MongoConnection } from '../../store/connection.ts';
import { storeLink } from '../server/store-link.ts';
import { until } from '../until.ts';
import { succeeds } from './connection.ts';

t.test('reconnects the client to a server that stopped during an operation', async (t) => {
  const link = await storeLink(t);
  const client = new MongoClient(link.url, {
    // Short, because a reconnect follows two of them. An operation waits longer, so that a busy
    // machine causes no outage.
    connectTimeoutMS: 300,
    serverSelectionTimeoutMS: 20_000,
    // The failed operation requests a heartbeat soon after the first.
    minHeartbeatFrequencyMS: 1,
  });
  const outages: (string | null)[] = [];
  const connection = new MongoConnection(client, (cause) => outages.push(cause));
  t.teardown(() => connection.close());
  await connection.established();
  const ask = () => client.db().collection('projects').findOne({});
  await ask();

  const held = link.freeze();
  const underWay = t.rejects(ask());
  await held;
  await link.cut();
  await link.mend();
  await underWay;
  await until('an answer', () => succeeds(ask()));
  t.same(outages, [], 'without a reported outage');
});
