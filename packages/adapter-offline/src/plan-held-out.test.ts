import type { PlannerTool } from '@holdfast/core';
import { expect, test } from 'vitest';
import { offlinePlanner } from './offline-planner.ts';
import { documents, everyTool, files, numbers, office, silent, sketch, texts, web } from './test-plan-tools.ts';

type Case = readonly [request: string, tools: readonly PlannerTool[], expected: readonly string[] | 'decline'];

// Written before the planner first ran, and never changed to suit it: then, 28 of the 40 were right.
const cases: readonly Case[] = [
  ['Read todo.txt', files, ['read_file {"path":"todo.txt"}']],
  ['Please fetch https://example.org/a.html', web, ['fetch_url {"url":"https://example.org/a.html"}']],
  ['What is 12 * 7?', numbers, ['calculate {"expression":"12 * 7"}']],
  [
    'Read a.txt and b.txt, then compare them',
    documents,
    [
      'read_file {"path":"a.txt"}',
      'read_file {"path":"b.txt"}',
      'compare_texts {"first":{"$from":0,"path":"text"},"second":{"$from":1,"path":"text"}} <-0,1',
    ],
  ],
  [
    'Fetch https://example.org/news and summarize it',
    documents,
    ['fetch_url {"url":"https://example.org/news"}', 'summarize_text {"text":{"$from":0,"path":"text"}} <-0'],
  ],
  [
    'Read report.md, translate it into German and write the translation to bericht.md',
    documents,
    [
      'read_file {"path":"report.md"}',
      'translate_text {"text":{"$from":0,"path":"text"},"language":"German"} <-0',
      'write_file {"path":"bericht.md","content":{"$from":1,"path":"text"}} <-1',
    ],
  ],
  [
    'Read minutes.txt and extract its keywords',
    documents,
    ['read_file {"path":"minutes.txt"}', 'extract_keywords {"text":{"$from":0,"path":"text"}} <-0'],
  ],
  [
    'Count the words of each of x.md, y.md and z.md',
    documents,
    [
      'read_file {"path":"x.md"}',
      'read_file {"path":"y.md"}',
      'read_file {"path":"z.md"}',
      'count_words {"text":{"$from":0,"path":"text"}} <-0',
      'count_words {"text":{"$from":1,"path":"text"}} <-1',
      'count_words {"text":{"$from":2,"path":"text"}} <-2',
    ],
  ],
  [
    'Search the web for "tulip prices" and fetch the first result',
    documents,
    ['search_web {"query":"tulip prices"}', 'fetch_url {"url":{"$from":0,"path":"results[0].url"}} <-0'],
  ],
  [
    'Get the stock price of AAPL and convert it from USD to EUR',
    numbers,
    [
      'get_stock_price {"symbol":"AAPL"}',
      'convert_currency {"amount":{"$from":0,"path":"price"},"from":"USD","to":"EUR"} <-0',
    ],
  ],
  ['Get the weather in Oslo and in Rome', office, ['get_weather {"city":"Oslo"}', 'get_weather {"city":"Rome"}']],
  [
    'Get the weather in Oslo, then send a mail to ann@example.org with the subject "Weather" and the summary as body',
    office,
    [
      'get_weather {"city":"Oslo"}',
      'send_mail {"to":"ann@example.org","subject":"Weather","body":{"$from":0,"path":"summary"}} <-0',
    ],
  ],
  [
    'Create an event called "Review" on 2026-03-04 and mail its link to bob@example.org with the subject "Review"',
    office,
    [
      'create_event {"title":"Review","date":"2026-03-04"}',
      'send_mail {"to":"bob@example.org","subject":"Review","body":{"$from":0,"path":"link"}} <-0',
    ],
  ],
  [
    'Load https://example.org/page and open plan.doc, then shorten both',
    silent,
    [
      'load_page {"url":"https://example.org/page"}',
      'open_document {"path":"plan.doc"}',
      'shorten {"text":"{{STEPS.0}}"} <-0',
      'shorten {"text":"{{STEPS.1}}"} <-1',
    ],
  ],
  [
    'Open plan.doc, shorten it, and store it as a note named short',
    silent,
    [
      'open_document {"path":"plan.doc"}',
      'shorten {"text":"{{STEPS.0}}"} <-0',
      'store_note {"name":"short","content":"{{STEPS.1}}"} <-1',
    ],
  ],
  [
    'Write "hello" to a.txt, then write "bye" to b.txt',
    files,
    ['write_file {"path":"a.txt","content":"hello"}', 'write_file {"path":"b.txt","content":"bye"} <-0'],
  ],
  [
    'Write "hello" to a.txt and write "bye" to b.txt',
    files,
    ['write_file {"path":"a.txt","content":"hello"}', 'write_file {"path":"b.txt","content":"bye"}'],
  ],
  [
    'Write "x" to a.txt. Read a.txt.',
    files,
    ['write_file {"path":"a.txt","content":"x"}', 'read_file {"path":"a.txt"} <-0'],
  ],
  [
    'Fetch https://example.org/a even if it fails, and read b.txt, then merge both',
    documents,
    [
      'fetch_url {"url":"https://example.org/a"} !continue',
      'read_file {"path":"b.txt"}',
      'merge_texts {"texts":[{"$from":0,"path":"text"},{"$from":1,"path":"text"}]} <-0,1 !continue',
    ],
  ],
  [
    'Read draft.md and measure its readability',
    documents,
    ['read_file {"path":"draft.md"}', 'measure_readability {"text":{"$from":0,"path":"text"}} <-0'],
  ],
  ['After reading a.txt, delete b.txt', files, ['read_file {"path":"a.txt"}', 'delete_file {"path":"b.txt"} <-0']],
  [
    'Calculate 3 + 4 and calculate 5 * 6, then compute the average of both',
    numbers,
    [
      'calculate {"expression":"3 + 4"}',
      'calculate {"expression":"5 * 6"}',
      'average_numbers {"numbers":[{"$from":0,"path":"result"},{"$from":1,"path":"result"}]} <-0,1',
    ],
  ],
  [
    'Summarize notes.txt and write the summary to short.txt',
    documents,
    [
      'read_file {"path":"notes.txt"}',
      'summarize_text {"text":{"$from":0,"path":"text"}} <-0',
      'write_file {"path":"short.txt","content":{"$from":1,"path":"summary"}} <-1',
    ],
  ],
  [
    'List the files in docs and write them to index.txt',
    files,
    ['list_files {"folder":"docs"}', 'write_file {"path":"index.txt","content":"{{STEPS.0.files}}"} <-0'],
  ],
  ['Translate "good morning" into French', texts, ['translate_text {"text":"good morning","language":"French"}']],
  [
    'Get the stock prices of AAPL and MSFT and compute their average',
    numbers,
    [
      'get_stock_price {"symbol":"AAPL"}',
      'get_stock_price {"symbol":"MSFT"}',
      'average_numbers {"numbers":[{"$from":0,"path":"price"},{"$from":1,"path":"price"}]} <-0,1',
    ],
  ],
  [
    'Read a.txt, count its words and measure its readability',
    documents,
    [
      'read_file {"path":"a.txt"}',
      'count_words {"text":{"$from":0,"path":"text"}} <-0',
      'measure_readability {"text":{"$from":0,"path":"text"}} <-0',
    ],
  ],
  [
    'Compare old.txt with new.txt and save the report as diff.txt',
    documents,
    [
      'read_file {"path":"old.txt"}',
      'read_file {"path":"new.txt"}',
      'compare_texts {"first":{"$from":0,"path":"text"},"second":{"$from":1,"path":"text"}} <-0,1',
      'write_file {"path":"diff.txt","content":{"$from":2,"path":"report"}} <-2',
    ],
  ],
  [
    'Show me the weather of Lima, and what events there are on 2026-05-01',
    office,
    ['get_weather {"city":"Lima"}', 'list_events {"date":"2026-05-01"}'],
  ],
  [
    'Read a.txt and write it to b.txt, then delete a.txt',
    files,
    [
      'read_file {"path":"a.txt"}',
      'write_file {"path":"b.txt","content":{"$from":0,"path":"text"}} <-0',
      'delete_file {"path":"a.txt"} <-1',
    ],
  ],
  ['Paint the fence green', everyTool, 'decline'],
  ['If a.txt mentions tulips, delete b.txt', everyTool, 'decline'],
  ['List the files and read each of them', files, 'decline'],
  ['Send a mail to bob@example.org', office, 'decline'],
  ['Write a poem about spring to poem.txt', files, 'decline'],
  ['Clean up the workspace', files, 'decline'],
  ['Summarize it', texts, 'decline'],
  ['Every Monday, fetch https://example.org', web, 'decline'],
  ['Write the translation to b.txt', files, 'decline'],
  ['Lies bitte die Datei notizen.txt vor', files, 'decline'],
];

test('requests that were written before it ran: how many of the plans are exactly what was meant', async () => {
  const wrong: string[] = [];
  for (const [request, tools, expected] of cases) {
    const lines = await sketch(offlinePlanner(), request, tools);
    const fits =
      expected === 'decline' ? lines[0]?.startsWith('error: ') === true : lines.join('\n') === expected.join('\n');
    if (!fits) wrong.push(`${request}\n  ${lines.join('\n  ')}`);
  }
  expect(cases.length - wrong.length, wrong.join('\n')).toBeGreaterThanOrEqual(39);
});
