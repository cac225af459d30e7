/** A front end that dies before it listens or right after. */
if (process.env['DIES'] === 'early') process.exit(4);
process.send?.({ type: 'ready' }, () => process.exit(3));
