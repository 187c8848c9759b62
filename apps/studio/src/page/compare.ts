import { type ComponentChildren, h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { read } from './connection.ts';
import { formatCount } from './format.ts';
import type { Comparison, Packs } from './types.ts';

/** Two presets of a pack over a session: the calls that they decide differently. */
export function Compare({ session }: { readonly session: string }): ComponentChildren {
  const [packs, setPacks] = useState<Packs['packs']>([]);
  const [chosen, setChosen] = useState({ pack: '', from: 'recommended', to: 'strict' });
  const [found, setFound] = useState<Comparison | string>();
  useEffect(() => {
    read<Packs>('packs').then(
      (answer) => setPacks(answer.packs),
      (thrown: unknown) => setFound((thrown as Error).message),
    );
  }, []);
  const pack = packs.find(({ name }) => name === chosen.pack) ?? packs[0];
  if (pack === undefined) return null;
  const sides = { ...chosen, pack: pack.name };
  const compare = (event: SubmitEvent): void => {
    event.preventDefault();
    setFound('Comparing…');
    read<Comparison>('compare', { session, ...sides }).then(setFound, (thrown: unknown) =>
      setFound((thrown as Error).message),
    );
  };
  const select = (name: keyof typeof sides, label: string, options: readonly string[]): ComponentChildren =>
    h(
      'label',
      null,
      label,
      h(
        'select',
        {
          value: sides[name],
          onChange: (event: Event) => {
            setChosen({ ...chosen, [name]: (event.currentTarget as HTMLSelectElement).value });
            setFound(undefined);
          },
        },
        options.map((value) => h('option', { value, key: value }, value)),
      ),
    );
  return h(
    'section',
    { 'aria-labelledby': 'compare-title' },
    h('h2', { id: 'compare-title' }, 'Compare two policies'),
    h(
      'form',
      { class: 'filters', onSubmit: compare },
      select(
        'pack',
        'Pack',
        packs.map(({ name }) => name),
      ),
      select('from', 'Before', pack.presets),
      select('to', 'After', pack.presets),
      h('button', { type: 'submit' }, 'Compare'),
    ),
    h('p', { role: 'status', class: 'note' }, typeof found === 'object' ? countsOf(found) : found),
    typeof found === 'object' ? h('ul', { class: 'different' }, found.calls.map(toItem)) : null,
  );
}

function countsOf({ counts }: Comparison): string {
  const { same, widened, tightened, reason, unknown } = counts;
  const told = [
    widened === 0 ? '' : `${widened} would be let through more easily`,
    tightened === 0 ? '' : `${tightened} more strictly`,
    reason === 0 ? '' : `${reason} for another reason`,
    unknown === 0 ? '' : `${unknown} cannot be judged from the log`,
    same === 0 ? '' : `${same} the same`,
  ];
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return `${formatCount(total, 'call')}: ${told.filter((text) => text !== '').join(', ')}`;
}

function toItem({ key, callId, name, change, before, after, reasons, line }: Comparison['calls'][number]) {
  return h(
    'li',
    { key: callId },
    h('strong', null, key < 0 ? name : h('a', { href: `#/call/${key}` }, name)),
    change === 'unknown' ? ' cannot be judged ' : ` ${change}: ${before} → ${after} `,
    h('code', null, line),
    reasons.map((text, index) => h('div', { class: 'text', key: index }, text)),
  );
}
