/** An exact amount, in units of 10^-9. */
export type Amount = bigint;

const digits = 9;
const unit = 10n ** BigInt(digits);
const plainDecimal = /^(?:0|[1-9]\d{0,14})(?:\.\d{1,30})?$/;

/**
 * Reads a number of at least 0 and below 10^15, or such a number as text in plain digits: `12.50`. More than nine decimals are rounded
 * up. `undefined` for anything else.
 */
export function readAmount(value: unknown): Amount | undefined {
  const text = typeof value === 'number' ? writeOut(value) : value;
  if (typeof text !== 'string' || !plainDecimal.test(text)) return undefined;
  const [whole = '', fraction = ''] = text.split('.');
  const kept = BigInt(whole) * unit + BigInt(fraction.slice(0, digits).padEnd(digits, '0'));
  return /[1-9]/.test(fraction.slice(digits)) ? kept + 1n : kept;
}

/** `readAmount` for safe integers only. */
export function readWhole(value: unknown): Amount | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? readAmount(value) : undefined;
}

/** The amount of a count. */
export function wholeAmount(count: number): Amount {
  return BigInt(count) * unit;
}

/** Plain digits, without trailing zeros: `12.5`. */
export function formatAmount(amount: Amount): string {
  const fraction = String(amount % unit)
    .padStart(digits, '0')
    .replace(/0+$/, '');
  return fraction === '' ? String(amount / unit) : `${amount / unit}.${fraction}`;
}

/** Without an exponent, which `String` uses for small numbers. */
function writeOut(value: number): string {
  if (value > 0 && value < 1e-9) return '0.000000001';
  return Math.abs(value) < 1e-6 ? value.toFixed(20) : String(value);
}
