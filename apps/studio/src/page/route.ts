import { type Signal, signal } from '@preact/signals';

/** The part of the address after `#/`: `calls?tool=bash`, `call/12`, `session/ab12`. */
export const route: Signal<string> = signal(current());

function current(): string {
  return location.hash.replace(/^#\/?/, '');
}

addEventListener('hashchange', () => {
  route.value = current();
});

export function toQuery(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(new URLSearchParams(text.split('?')[1] ?? ''));
}

/** Changes the filters without a step in the history. */
export function replaceRoute(path: string): void {
  history.replaceState(null, '', `#/${path}`);
  route.value = path;
}
