import { expect, test } from 'vitest';
import { offlinePlanner } from './offline-planner.ts';
import { everyTool, sketch } from './test-plan-tools.ts';

// Ways of asking that the planner had not seen. When it first did, 20 of the 25 answers were right, two plans were wrong, and three
// requests were declined that it could have planned.
const cases: readonly (readonly [request: string, expected: readonly string[] | 'decline'])[] = [
  [
    'Please read intro.md and give me a summary of it',
    ['read_file {"path":"intro.md"}', 'summarize_text {"text":{"$from":0,"path":"text"}} <-0'],
  ],
  [
    'Translate https://example.org/manual into German and save it as manual-de.txt',
    [
      'fetch_url {"url":"https://example.org/manual"}',
      'translate_text {"text":{"$from":0,"path":"text"},"language":"German"} <-0',
      'write_file {"path":"manual-de.txt","content":{"$from":1,"path":"text"}} <-1',
    ],
  ],
  [
    'I want to know how many words chapter1.txt and chapter2.txt have',
    [
      'read_file {"path":"chapter1.txt"}',
      'read_file {"path":"chapter2.txt"}',
      'count_words {"text":{"$from":0,"path":"text"}} <-0',
      'count_words {"text":{"$from":1,"path":"text"}} <-1',
    ],
  ],
  [
    'Fetch https://example.org/status. Then mail it to ops@example.org with the subject "Status".',
    [
      'fetch_url {"url":"https://example.org/status"}',
      'send_mail {"to":"ops@example.org","subject":"Status","body":{"$from":0,"path":"text"}} <-0',
    ],
  ],
  ["What's the average of 4, 8 and 15?", ['average_numbers {"numbers":[4,8,15]}']],
  ['Compare the weather in Oslo with the weather in Rome', 'decline'],
  [
    'Grab https://example.org/data.txt, extract its keywords, and store the keywords in keywords.json',
    [
      'fetch_url {"url":"https://example.org/data.txt"}',
      'extract_keywords {"text":{"$from":0,"path":"text"}} <-0',
      'write_file {"path":"keywords.json","content":"{{STEPS.1.keywords}}"} <-1',
    ],
  ],
  [
    'Save "todo: buy milk" in todo.txt, and afterwards list all files',
    ['write_file {"path":"todo.txt","content":"todo: buy milk"}', 'list_files {} <-0'],
  ],
  ['Convert 3 + 4 dollars to euros', 'decline'],
  ['Summarize the readability of a.txt', 'decline'],
  [
    'Read the file report.txt; summarize it; translate the summary to French; write it to resume.txt',
    [
      'read_file {"path":"report.txt"}',
      'summarize_text {"text":{"$from":0,"path":"text"}} <-0',
      'translate_text {"text":{"$from":1,"path":"summary"},"language":"French"} <-1',
      'write_file {"path":"resume.txt","content":{"$from":2,"path":"text"}} <-2',
    ],
  ],
  [
    'Look up "solar panels" on the web and summarize what you find',
    ['search_web {"query":"solar panels"}', 'summarize_text {"text":"{{STEPS.0.results}}"} <-0'],
  ],
  [
    'Fetch https://example.org/1, https://example.org/2 and https://example.org/3, and merge them',
    [
      'fetch_url {"url":"https://example.org/1"}',
      'fetch_url {"url":"https://example.org/2"}',
      'fetch_url {"url":"https://example.org/3"}',
      'merge_texts {"texts":[{"$from":0,"path":"text"},{"$from":1,"path":"text"},{"$from":2,"path":"text"}]} <-0,1,2',
    ],
  ],
  ['Remove draft.txt and draft2.txt', ['delete_file {"path":"draft.txt"}', 'delete_file {"path":"draft2.txt"}']],
  ['Set up a meeting with Bob on 2026-06-01', 'decline'],
  [
    'Put the price of MSFT into msft.txt',
    ['get_stock_price {"symbol":"MSFT"}', 'write_file {"path":"msft.txt","content":"{{STEPS.0}}"} <-0'],
  ],
  [
    'Read letter.txt, translate it into French and mail the translation to bob@example.org with the subject "Lettre"',
    [
      'read_file {"path":"letter.txt"}',
      'translate_text {"text":{"$from":0,"path":"text"},"language":"French"} <-0',
      'send_mail {"to":"bob@example.org","subject":"Lettre","body":{"$from":1,"path":"text"}} <-1',
    ],
  ],
  [
    'Read a.txt, and if anything fails keep going, then count its words',
    ['read_file {"path":"a.txt"} !continue', 'count_words {"text":{"$from":0,"path":"text"}} <-0 !continue'],
  ],
  ['Copy the text of a.txt into b.txt', 'decline'],
  ['Who is the author of a.txt?', 'decline'],
  ['Tell Bob that lunch is ready', 'decline'],
  [
    'Get rid of a.txt after mailing it to bob@example.org with the subject "Bye"',
    [
      'read_file {"path":"a.txt"}',
      'send_mail {"to":"bob@example.org","subject":"Bye","body":{"$from":0,"path":"text"}} <-0',
      'delete_file {"path":"a.txt"} <-1',
    ],
  ],
  [
    'Measure the readability of intro.md, then translate intro.md into German and measure the readability of the translation',
    [
      'read_file {"path":"intro.md"}',
      'measure_readability {"text":{"$from":0,"path":"text"}} <-0',
      'translate_text {"text":{"$from":0,"path":"text"},"language":"German"} <-0,1',
      'measure_readability {"text":{"$from":2,"path":"text"}} <-2',
    ],
  ],
  ['Cancel the event that Ann created', 'decline'],
  ['Rank a.txt, b.txt and c.txt by length', 'decline'],
];

test('requests in other words: how many of the plans are exactly what was meant', async () => {
  const wrong: string[] = [];
  for (const [request, expected] of cases) {
    const lines = await sketch(offlinePlanner(), request, everyTool);
    const fits =
      expected === 'decline' ? lines[0]?.startsWith('error: ') === true : lines.join('\n') === expected.join('\n');
    if (!fits) wrong.push(`${request}\n  ${lines.join('\n  ')}`);
  }
  expect(cases.length - wrong.length, wrong.join('\n')).toBeGreaterThanOrEqual(23);
});
