import { effect } from '@preact/signals';
import { type ComponentChildren, h, render } from 'preact';
import { Calls } from './calls.ts';
import { hasSecret } from './connection.ts';
import { CallPage, SessionPage } from './details.ts';
import { Inbox } from './inbox.ts';
import { cards, follow, lost } from './live.ts';
import { route } from './route.ts';

function Page(): ComponentChildren {
  const [view = '', id = ''] = (route.value.split('?')[0] ?? '').split('/');
  const waiting = countWaiting();
  const link = (href: string, name: string, text: string): ComponentChildren =>
    h('li', null, h('a', { href, ...(view === name ? { 'aria-current': 'page' } : {}) }, text));
  return h(
    'div',
    null,
    h('a', { class: 'skip', href: '#main', onClick: skip }, 'Skip to the content'),
    h(
      'header',
      null,
      h('p', { class: 'brand' }, 'Holdfast'),
      h(
        'nav',
        { 'aria-label': 'Parts of this page' },
        h(
          'ul',
          null,
          link('#/', '', waiting === 0 ? 'Inbox' : `Inbox (${waiting})`),
          link('#/calls', 'calls', 'Calls'),
        ),
      ),
    ),
    lost.value === '' ? null : h('p', { class: 'problem', role: 'alert' }, lost.value),
    view === 'calls'
      ? h(Calls, null)
      : view === 'call'
        ? h(CallPage, { id })
        : view === 'session'
          ? h(SessionPage, { id })
          : h(Inbox, null),
  );
}

function countWaiting(): number {
  return cards.value.filter(({ status }) => status === 'open').length;
}

/** The address belongs to the views. */
function skip(event: MouseEvent): void {
  event.preventDefault();
  const main = document.getElementById('main');
  main?.setAttribute('tabindex', '-1');
  main?.focus();
}

function NoSecret(): ComponentChildren {
  return h(
    'main',
    { id: 'main', class: 'empty' },
    h('h1', null, 'Holdfast'),
    h('p', null, 'This tab has no secret: it is in the link alone, and is kept in no history and no storage.'),
    h('p', null, 'Open the link that ', h('code', null, 'holdfast studio'), ' printed, in a new tab.'),
  );
}

const root = document.getElementById('page');
if (root !== null) render(hasSecret ? h(Page, null) : h(NoSecret, null), root);
if (hasSecret) {
  follow();
  effect(() => {
    const waiting = countWaiting();
    document.title = waiting === 0 ? 'Holdfast' : `(${waiting}) Holdfast`;
  });
}
