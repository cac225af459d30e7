import { channelToPrimary } from '../../../server/cluster/channel.ts';

/**
 * A front end that listens once it hears that the store is open, unless the service is about to
 * stop.
 */
const channel = channelToPrimary();
process.on('disconnect', () => process.exit(0));
await channel.start();
channel.receive(({ type }) => {
  if (type === 'drain' || type === 'service-stops') process.exit(0);
});
channel.send({ type: 'ready', httpServer: { engine: 'node' } });
