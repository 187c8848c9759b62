/** An amount of anything, exactly: in units of 10^-9. */
export type Amount = bigint;

const digits = 9;
const unit = 10n ** BigInt(digits);
const plainDecimal = /^(?:0|[1-9]\d{0,14})(?:\.\d{1,30})?$/;

/**
 * A number of at least 0 and below 10^15, or a text that is one in plain digits: `12.50`. What has more than nine digits after the
 * point is rounded up. `undefined` for anything else.
 */
export function readAmount(value: unknown): Amount | undefined {
  const text = typeof value === 'number' ? writeOut(value) : value;
  if (typeof text !== 'string' || !plainDecimal.test(text)) return undefined;
  const [whole = '', fraction = ''] = text.split('.');
  const kept = BigInt(whole) * unit + BigInt(fraction.slice(0, digits).padEnd(digits, '0'));
  return /[1-9]/.test(fraction.slice(digits)) ? kept + 1n : kept;
}

/** As `readAmount`, of numbers without a fraction. */
export function readWhole(value: unknown): Amount | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? readAmount(value) : undefined;
}

/** Of a count. */
export function wholeAmount(count: number): Amount {
  return BigInt(count) * unit;
}

/** In plain digits, as short as it can be: `12.5`. */
export function formatAmount(amount: Amount): string {
  const fraction = String(amount % unit)
    .padStart(digits, '0')
    .replace(/0+$/, '');
  return fraction === '' ? String(amount / unit) : `${amount / unit}.${fraction}`;
}

/** Without an exponent, which `String` uses for what is very small. */
function writeOut(value: number): string {
  if (value > 0 && value < 1e-9) return '0.000000001';
  return Math.abs(value) < 1e-6 ? value.toFixed(20) : String(value);
}
