import cluster from 'node:cluster';

/** A front end for supervisor tests. The first front end of each test reports stuck transforms. */
const first = cluster.worker?.id === 1;
const stalledMs = first ? 5_000 : 0;

process.on('message', ({ type }: { type: string }) => {
  // The first front end also ignores the drain.
  if (type === 'drain' && !first) process.exit(0);
});
process.on('disconnect', () => process.exit(0));
process.send?.({ type: 'ready' });
setInterval(() => process.send?.({ type: 'stats', stats: { transforms: { stalledMs } } }), 20);
