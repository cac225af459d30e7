import { MongoClient } from 'mongodb';
import t from 'tap';
import { Connection } from '../../store/connection.ts';
import { storeLink } from '../server/store-link.ts';
import { until } from '../until.ts';

t.test('a server that ends while an operation is under way is found again', async (t) => {
  const link = await storeLink(t);
  const client = new MongoClient(link.url, {
    serverSelectionTimeoutMS: 300,
    connectTimeoutMS: 300,
    // The first heartbeat is then not too recent for the one that the lost operation asks for.
    minHeartbeatFrequencyMS: 1,
  });
  const told: (string | null)[] = [];
  const connection = new Connection(client, (cause) => told.push(cause));
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
  await until('an answer', () =>
    ask().then(
      () => true,
      () => false,
    ),
  );
  t.same(told, [], 'and no start is told of');
});
