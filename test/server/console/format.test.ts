import t from 'tap';
import { formatChange, formatTime, formText } from '../../../server/console/page/api/format.ts';

t.test('formats size changes', async (t) => {
  for (const [from, to, text] of [
    [1_000, 60, '−94%'],
    [1_000_000, 800, '−99.9%'],
    [1_000_000, 4_990, '−99.5%'],
    [100, 0, '−100%'],
    [100, 103, '+3%'],
    [9, 9, '0%'],
  ] as const) {
    t.equal(formatChange(from, to), text);
  }
});

t.test('words API texts for forms', async (t) => {
  t.equal(
    formText('Seconds; null for `never`. It must be a number or null, but is "null".'),
    'Seconds; empty for never. It must be a number or empty, but is "null".',
  );
});

t.test('writes dates and times in one form', async (t) => {
  t.equal(formatTime('2026-11-27T09:31:32.000Z'), '27 Nov 2026, 09:31:32 UTC');
  t.equal(formatTime('2026-11-27'), '27 Nov 2026');
  t.equal(formatTime('November 27, 2026'), '27 Nov 2026');
});
