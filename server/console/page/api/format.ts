const number = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

export function formatBytes(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  const unit = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${number.format(bytes / 1_000 ** unit)} ${units[unit]}`;
}

export const formatNumber = (value: number | null): string =>
  value === null ? 'unknown' : number.format(value);

export function formatDuration(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

const date = { day: 'numeric', month: 'short', year: 'numeric' } as const;
const clock = {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
} as const;

/**
 * Returns an ISO 8601 time, such as `27 Nov 2026, 09:31:32 UTC`, or a date, such as `27 Nov 2026`,
 * from ISO 8601 or words. Usage and log lines use UTC too.
 */
export function formatTime(text: string): string {
  const isTime = text.includes('T');
  // Without a zone, the browser would read `November 27, 2026` in its own.
  const time = new Date(/^\d/.test(text) ? text : `${text} UTC`);
  return time.toLocaleString('en-GB', { ...date, ...(isTime && clock), timeZone: 'UTC' });
}

/** `1 source`, `2 sources`. */
export const countText = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Returns a relative change, such as `−94%`. */
export function formatChange(from: number, to: number): string {
  const exact = (to / from - 1) * 100;
  const rounded = Math.round(exact);
  // Never −100 % for a remainder above 0.
  const percent = rounded === -100 && to > 0 ? Math.max(-99.9, exact) : rounded;
  return `${percent > 0 ? '+' : percent < 0 ? '−' : ''}${number.format(Math.abs(percent))}%`;
}

/** Labels of fields with unclear or abbreviated names. */
const labels: Readonly<Record<string, string>> = {
  allowedOrigins: 'Allowed hosts',
  ttlSeconds: 'Validity in seconds',
  urls: 'URL format',
};

/** Returns a field name as words: `defaultQuality` becomes `Default quality`. */
export function fieldLabel(name: string): string {
  const words = labels[name] ?? name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return words
    .replace(/^./, (first) => first.toUpperCase())
    .replace(/\b(url|dpr|ttl)\b/i, (word) => word.toUpperCase());
}

/** Returns an API text for a form: an empty control means null. */
export const formText = (text: string): string =>
  withoutBackticks(text).replace(/(?<!")\bnull\b(?!")/g, 'empty');

/** Returns a text of the service's tables without the backticks around names. */
export const withoutBackticks = (text: string): string => text.replaceAll('`', '');
