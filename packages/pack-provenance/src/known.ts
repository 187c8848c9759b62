import { type Kind, toForm } from './forms.ts';

/** True if a pattern covers the form: a value, `@corp.com` for its addresses, `*.corp.com` for its hosts. */
export function isKnown(form: string, patterns: readonly string[]): boolean {
  const at = form.indexOf(':');
  const kind = form.slice(0, at);
  const value = form.slice(at + 1);
  return patterns.some((pattern) => {
    if (pattern.startsWith('@')) return kind === 'address' && value.endsWith(pattern.toLowerCase());
    if (pattern.startsWith('*.')) {
      const host = kind === 'url' ? toForm('host', value)?.slice('host:'.length) : kind === 'host' ? value : undefined;
      return host?.endsWith(pattern.slice(1).toLowerCase()) === true;
    }
    return toForm(kind as Kind, pattern) === form;
  });
}

/** True if the value of a field is one of the patterns, letter by letter, or an address of `@corp.com`. */
export function matchesOne(value: unknown, patterns: readonly string[]): boolean {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return false;
  const text = String(value);
  const address = toForm('address', text);
  const domains = patterns.filter((pattern) => pattern.startsWith('@'));
  return patterns.includes(text) || (address !== undefined && isKnown(address, domains));
}
