/** Of a text, which programs often write with all the decimals that their numbers have. */
export const maxDecimals = 20;
const zeros = `(?:\\.0{1,${maxDecimals}})?`;
const fraction = `(?:\\.[0-9]{1,${maxDecimals}})?`;

/** A range of numbers from 0, 1 or minus the maximum; the maximum is whole. */
interface Range {
  readonly minimum: number;
  readonly maximum: number;
  readonly whole: boolean;
}

/**
 * The source of a pattern for the decimal texts of a range, with up to three leading zeros; valid in all dialects of
 * regular expressions, from ECMA-262 to RE2.
 */
export function decimalPattern({ minimum, maximum, whole }: Range): string {
  const positive = minimum > 0;
  const digits = String(maximum);
  // By the first digit that is below that of the maximum, then by fewer digits.
  const sameLength = [...digits].flatMap((digit, index) => {
    const least = index === 0 && (positive || digits.length > 1) ? 1 : 0;
    const most = Number(digit) - 1;
    if (most < least) return [];
    return `${digits.slice(0, index)}[${least}-${most}]${anyDigits(digits.length - index - 1)}`;
  });
  const shorter = [...digits].slice(1).map((_, length) => {
    if (length > 0 || positive) return `[1-9]${anyDigits(length)}`;
    return '[0-9]';
  });
  const below = [...shorter, ...sameLength].map((integer) => integer + (whole ? zeros : fraction));
  const all = `0{0,3}(?:${[...below, `${digits}${zeros}`].join('|')})`;
  if (minimum < 0) return `-?${all}`;
  return positive ? all : `(?:-0${zeros}|${all})`;
}

const anyDigits = (count: number): string => (count === 0 ? '' : `[0-9]{${count}}`);
