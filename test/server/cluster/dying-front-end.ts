/** A front end that dies as soon as it listens. */
process.send?.({ type: 'ready' }, () => process.exit(3));
