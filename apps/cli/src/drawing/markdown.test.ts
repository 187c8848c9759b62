import fc from 'fast-check';
import { expect, test } from 'vitest';
import { html } from './html.ts';
import { markdown } from './markdown.ts';
import { listElements, readPage, textOf } from './test-html.ts';
import { hostileTexts } from './test-traces.ts';

const pageOf = (text: string) => readPage(`<!DOCTYPE html>\n${html`<main>${markdown(text)}</main>`.text}`);
const drawn = (text: string): string =>
  markdown(text).text.replace(/^<div class="markdown">(?<inside>.*)<\/div>$/su, '$<inside>');

test.each([
  ['# Report', '<p><strong>Report</strong></p>'],
  ['A **bold** *fine* `x < 1` word', '<p>A <strong>bold</strong> <em>fine</em> <code>x &#60; 1</code> word</p>'],
  ['- a\n- b', '<ul><li>a</li><li>b</li></ul>'],
  ['1. a\n2. b', '<ol><li>a</li><li>b</li></ol>'],
  ['> told', '<blockquote><p>told</p></blockquote>'],
  ['```\na <b>\n```', '<pre>a &#60;b&#62;</pre>'],
  [
    '| a | b |\n| - | - |\n| 1 | 2 |',
    '<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>',
  ],
])('%j is drawn', (text, expected) => {
  expect(drawn(text)).toBe(expected);
});

test.each(['Sales grew.', 'One\n\nTwo & three', '', '1 < 2'])('%j has no Markdown and keeps its lines', (text) => {
  expect(listElements(pageOf(text)).map(({ name }) => name)).toEqual(['main', 'pre']);
  expect(textOf(pageOf(text))).toBe(text);
});

test.each([
  ['[a](https://example.com/x)', '[a](https://example.com/x)'],
  ['![a](https://example.com/x.png)', '![a](https://example.com/x.png)'],
  ['<img src=x onerror=alert(1)>', '<img src=x onerror=alert(1)>'],
  ['a <b onclick="x()">c</b> **d**', 'a <b onclick="x()">c</b> d'],
  ['<https://example.com>', '<https://example.com>'],
])('%j stays text', (text, expected) => {
  expect(textOf(pageOf(text)).trim()).toBe(expected);
});

test.each(['>'.repeat(10_000), '- '.repeat(5_000), '> - '.repeat(2_500)])(
  'a text with thousands of levels is drawn',
  (text) => {
    expect(textOf(pageOf(text)).length).toBeLessThanOrEqual(text.length);
  },
);

test.each(hostileTexts)('%j has only our elements, without attributes of its own', (text) => {
  expect(foreignIn(text)).toEqual([]);
});

test('property: any text has only our elements, without attributes of its own', () => {
  const word = fc.constantFrom(...'# * _ ` > - 1. | [ ] ( ) < a & ! http://x \\ "'.split(' '), '\n', ' ');
  fc.assert(
    fc.property(fc.array(word, { maxLength: 60 }), (words) => {
      expect(foreignIn(words.join(''))).toEqual([]);
    }),
  );
});

function foreignIn(text: string): readonly string[] {
  const ours = 'main pre p strong em code ul ol li blockquote table thead tbody tr th td br'.split(' ');
  return listElements(pageOf(text)).flatMap(({ name, attributes }) => {
    if (name === 'div') return [...attributes].join() === 'class,markdown' ? [] : ['div'];
    return ours.includes(name) && attributes.size === 0 ? [] : [name];
  });
}
