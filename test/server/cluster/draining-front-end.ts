/** A front end that takes a while to drain. */
process.on('message', ({ type, graceMs }: { type: string; graceMs: number }) => {
  if (type === 'drain') setTimeout(() => process.exit(0), graceMs === 0 ? 0 : 300);
});
process.on('disconnect', () => process.exit(0));
process.send?.({ type: 'ready' });
