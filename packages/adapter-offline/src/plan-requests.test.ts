import type { PlannerTool } from '@holdfast/core';
import { expect, test } from 'vitest';
import { offlinePlanner } from './offline-planner.ts';
import { documents, everyTool, files, numbers, office, silent, sketch } from './test-plan-tools.ts';

type Row = readonly [request: string, tools: readonly PlannerTool[], expected: readonly string[]];

const plans: readonly Row[] = [
  [
    'Fetch http://127.0.0.1:8080/report.txt and read notes.txt, count the words of both, then write the comparison to summary.md',
    documents,
    [
      'fetch_url {"url":"http://127.0.0.1:8080/report.txt"}',
      'read_file {"path":"notes.txt"}',
      'count_words {"text":{"$from":0,"path":"text"}} <-0',
      'count_words {"text":{"$from":1,"path":"text"}} <-1',
      'compare_texts {"first":{"$from":0,"path":"text"},"second":{"$from":1,"path":"text"}} <-0,1,2,3',
      'write_file {"path":"summary.md","content":{"$from":4,"path":"report"}} <-4',
    ],
  ],
  [
    'Read a.txt and b.txt, count the words of both, and write the counts to counts.md',
    documents,
    [
      'read_file {"path":"a.txt"}',
      'read_file {"path":"b.txt"}',
      'count_words {"text":{"$from":0,"path":"text"}} <-0',
      'count_words {"text":{"$from":1,"path":"text"}} <-1',
      'write_file {"path":"counts.md","content":"# Findings\\n\\n## a.txt\\n\\n{{STEPS.2}}\\n\\n## b.txt\\n\\n{{STEPS.3}}\\n"} <-2,3',
    ],
  ],
  [
    'Read a.txt, b.txt and c.txt and merge them',
    documents,
    [
      'read_file {"path":"a.txt"}',
      'read_file {"path":"b.txt"}',
      'read_file {"path":"c.txt"}',
      'merge_texts {"texts":[{"$from":0,"path":"text"},{"$from":1,"path":"text"},{"$from":2,"path":"text"}]} <-0,1,2',
    ],
  ],
  [
    'Merge a.txt, b.txt and c.txt and write the result to all.txt',
    documents,
    [
      'read_file {"path":"a.txt"}',
      'read_file {"path":"b.txt"}',
      'read_file {"path":"c.txt"}',
      'merge_texts {"texts":[{"$from":0,"path":"text"},{"$from":1,"path":"text"},{"$from":2,"path":"text"}]} <-0,1,2',
      'write_file {"path":"all.txt","content":{"$from":3,"path":"text"}} <-3',
    ],
  ],
  [
    'Read a.txt then translate it to French then write it to b.txt',
    documents,
    [
      'read_file {"path":"a.txt"}',
      'translate_text {"text":{"$from":0,"path":"text"},"language":"French"} <-0',
      'write_file {"path":"b.txt","content":{"$from":1,"path":"text"}} <-1',
    ],
  ],
  [
    'Search the web for tulips and write the results to tulips.json',
    documents,
    ['search_web {"query":"tulips"}', 'write_file {"path":"tulips.json","content":"{{STEPS.0.results}}"} <-0'],
  ],
  [
    'Search the web for "rose care" and summarize the results',
    documents,
    ['search_web {"query":"rose care"}', 'summarize_text {"text":"{{STEPS.0.results}}"} <-0'],
  ],
  [
    'Summarize https://example.org/a and https://example.org/b, then compare the summaries',
    documents,
    [
      'fetch_url {"url":"https://example.org/a"}',
      'fetch_url {"url":"https://example.org/b"}',
      'summarize_text {"text":{"$from":0,"path":"text"}} <-0',
      'summarize_text {"text":{"$from":1,"path":"text"}} <-1',
      'compare_texts {"first":{"$from":2,"path":"summary"},"second":{"$from":3,"path":"summary"}} <-2,3',
    ],
  ],
  [
    'Summarize a.txt and b.txt together',
    documents,
    [
      'read_file {"path":"a.txt"}',
      'read_file {"path":"b.txt"}',
      'summarize_text {"text":"a.txt\\n\\n{{STEPS.0.text}}\\n\\nb.txt\\n\\n{{STEPS.1.text}}\\n"} <-0,1',
    ],
  ],
  [
    'Read a.txt and count its words; if it fails, continue',
    documents,
    ['read_file {"path":"a.txt"}', 'count_words {"text":{"$from":0,"path":"text"}} <-0 !continue'],
  ],
  [
    'Fetch https://a.example/x and https://b.example/y, continue if one fails, then merge them into one text and write it to out.txt',
    documents,
    [
      'fetch_url {"url":"https://a.example/x"} !continue',
      'fetch_url {"url":"https://b.example/y"} !continue',
      'merge_texts {"texts":[{"$from":0,"path":"text"},{"$from":1,"path":"text"}]} <-0,1 !continue',
      'write_file {"path":"out.txt","content":{"$from":2,"path":"text"}} <-2 !continue',
    ],
  ],
  [
    'Fetch https://a.example/x, retry up to 3 times, and count its words',
    documents,
    ['fetch_url {"url":"https://a.example/x"} retry 3', 'count_words {"text":{"$from":0,"path":"text"}} <-0'],
  ],
  [
    'Extract the keywords of a.txt and search the web for the first keyword',
    documents,
    [
      'read_file {"path":"a.txt"}',
      'extract_keywords {"text":{"$from":0,"path":"text"}} <-0',
      'search_web {"query":{"$from":1,"path":"keywords[0]"}} <-1',
    ],
  ],
  [
    'Delete old.txt before reading new.txt',
    documents,
    ['delete_file {"path":"old.txt"}', 'read_file {"path":"new.txt"} <-0'],
  ],
  [
    'Read a.txt, and after that delete it',
    documents,
    ['read_file {"path":"a.txt"}', 'delete_file {"path":"a.txt"} <-0'],
  ],
  ['What does https://example.org/faq say?', documents, ['fetch_url {"url":"https://example.org/faq"}']],
  [
    'How many words does essay.txt have?',
    documents,
    ['read_file {"path":"essay.txt"}', 'count_words {"text":{"$from":0,"path":"text"}} <-0'],
  ],
  [
    'Compare a.txt with https://example.org/a.txt',
    documents,
    [
      'read_file {"path":"a.txt"}',
      'fetch_url {"url":"https://example.org/a.txt"}',
      'compare_texts {"first":{"$from":0,"path":"text"},"second":{"$from":1,"path":"text"}} <-0,1',
    ],
  ],
  [
    'Measure the readability of both a.txt and b.txt and write the scores to scores.md',
    documents,
    [
      'read_file {"path":"a.txt"}',
      'read_file {"path":"b.txt"}',
      'measure_readability {"text":{"$from":0,"path":"text"}} <-0',
      'measure_readability {"text":{"$from":1,"path":"text"}} <-1',
      'write_file {"path":"scores.md","content":"# Findings\\n\\n## a.txt\\n\\n{{STEPS.2.score}}\\n\\n## b.txt\\n\\n{{STEPS.3.score}}\\n"} <-2,3',
    ],
  ],
  [
    'Read a.txt. Translate it into German. Write the translation to de.txt. Translate it into French too.',
    documents,
    [
      'read_file {"path":"a.txt"}',
      'translate_text {"text":{"$from":0,"path":"text"},"language":"German"} <-0',
      'write_file {"path":"de.txt","content":{"$from":1,"path":"text"}} <-1',
      'translate_text {"text":{"$from":1,"path":"text"},"language":"French"} <-1',
    ],
  ],
  ['Convert 100 USD to EUR', numbers, ['convert_currency {"amount":100,"from":"USD","to":"EUR"}']],
  [
    'Calculate 2 * 3 and convert the result from USD to EUR',
    numbers,
    [
      'calculate {"expression":"2 * 3"}',
      'convert_currency {"amount":{"$from":0,"path":"result"},"from":"USD","to":"EUR"} <-0',
    ],
  ],
  [
    'Get the price of AAPL, MSFT and GOOG and average them',
    numbers,
    [
      'get_stock_price {"symbol":"AAPL"}',
      'get_stock_price {"symbol":"MSFT"}',
      'get_stock_price {"symbol":"GOOG"}',
      'average_numbers {"numbers":[{"$from":0,"path":"price"},{"$from":1,"path":"price"},{"$from":2,"path":"price"}]} <-0,1,2',
    ],
  ],
  ['What is the stock price of AAPL?', numbers, ['get_stock_price {"symbol":"AAPL"}']],
  [
    'Get the weather in Paris and send it to bob@example.org',
    office,
    [
      'get_weather {"city":"Paris"}',
      'send_mail {"to":"bob@example.org","subject":"Weather in Paris","body":"{{STEPS.0}}"} <-0',
    ],
  ],
  ['Cancel the event evt_123', office, ['cancel_event {"id":"evt_123"}']],
  [
    'List the events of 2026-05-01 and mail them to ann@example.org with the subject "Your day"',
    office,
    [
      'list_events {"date":"2026-05-01"}',
      'send_mail {"to":"ann@example.org","subject":"Your day","body":"{{STEPS.0.events}}"} <-0',
    ],
  ],
  [
    'Send a mail to ann@example.org and bob@example.org with the subject "Hi" and the body "Hello"',
    office,
    [
      'send_mail {"to":"ann@example.org","subject":"Hi","body":"Hello"}',
      'send_mail {"to":"bob@example.org","subject":"Hi","body":"Hello"}',
    ],
  ],
  [
    'Load https://example.org and store it as note page',
    silent,
    ['load_page {"url":"https://example.org"}', 'store_note {"name":"page","content":"{{STEPS.0}}"} <-0'],
  ],
  [
    'Shorten plan.doc and store the result as a note called short',
    silent,
    [
      'open_document {"path":"plan.doc"}',
      'shorten {"text":"{{STEPS.0}}"} <-0',
      'store_note {"name":"short","content":"{{STEPS.1}}"} <-1',
    ],
  ],
  [
    'Mail the weather in Paris to bob@example.org with the subject "Weather"',
    office,
    ['get_weather {"city":"Paris"}', 'send_mail {"to":"bob@example.org","subject":"Weather","body":"{{STEPS.0}}"} <-0'],
  ],
  [
    'Get the prices of AAPL and MSFT and average them',
    numbers,
    [
      'get_stock_price {"symbol":"AAPL"}',
      'get_stock_price {"symbol":"MSFT"}',
      'average_numbers {"numbers":[{"$from":0,"path":"price"},{"$from":1,"path":"price"}]} <-0,1',
    ],
  ],
  [
    'Send bob@example.org the summary of a.txt with the subject "Summary"',
    everyTool,
    [
      'read_file {"path":"a.txt"}',
      'summarize_text {"text":{"$from":0,"path":"text"}} <-0',
      'send_mail {"to":"bob@example.org","subject":"Summary","body":{"$from":1,"path":"summary"}} <-1',
    ],
  ],
  [
    'Send a mail to ann@example.org with the subject "Notes" and the text of a.txt',
    everyTool,
    [
      'read_file {"path":"a.txt"}',
      'send_mail {"to":"ann@example.org","subject":"Notes","body":{"$from":0,"path":"text"}} <-0',
    ],
  ],
  [
    'Send the contents of a.txt to ann@example.org with the subject "Notes"',
    everyTool,
    [
      'read_file {"path":"a.txt"}',
      'send_mail {"to":"ann@example.org","subject":"Notes","body":{"$from":0,"path":"text"}} <-0',
    ],
  ],
  [
    'Read a.txt and read b.txt and read c.txt',
    everyTool,
    ['read_file {"path":"a.txt"}', 'read_file {"path":"b.txt"}', 'read_file {"path":"c.txt"}'],
  ],
  ['Read a.txt and tell me what it says', everyTool, ['read_file {"path":"a.txt"}']],
  ['Could you please read a.txt and show it to me?', everyTool, ['read_file {"path":"a.txt"}']],
  [
    'Read a.txt and read b.txt. Compare them. Write the report to c.txt and mail it to ann@example.org with the subject "Report".',
    everyTool,
    [
      'read_file {"path":"a.txt"}',
      'read_file {"path":"b.txt"}',
      'compare_texts {"first":{"$from":0,"path":"text"},"second":{"$from":1,"path":"text"}} <-0,1',
      'write_file {"path":"c.txt","content":{"$from":2,"path":"report"}} <-2',
      'send_mail {"to":"ann@example.org","subject":"Report","body":{"$from":2,"path":"report"}} <-2',
    ],
  ],
  [
    'Get the weather in Oslo and write the temperature to t.txt',
    everyTool,
    ['get_weather {"city":"Oslo"}', 'write_file {"path":"t.txt","content":"{{STEPS.0.temperature}}"} <-0'],
  ],
  [
    'Get the weather in Oslo and Rome, and write both to weather.md',
    everyTool,
    [
      'get_weather {"city":"Oslo"}',
      'get_weather {"city":"Rome"}',
      'write_file {"path":"weather.md","content":"# Findings\\n\\n## Oslo\\n\\n{{STEPS.0}}\\n\\n## Rome\\n\\n{{STEPS.1}}\\n"} <-0,1',
    ],
  ],
  [
    'Fetch https://example.org/a, translate it to Spanish, count the words of the translation and write the count to c.txt',
    everyTool,
    [
      'fetch_url {"url":"https://example.org/a"}',
      'translate_text {"text":{"$from":0,"path":"text"},"language":"Spanish"} <-0',
      'count_words {"text":{"$from":1,"path":"text"}} <-1',
      'write_file {"path":"c.txt","content":"{{STEPS.2}}"} <-2',
    ],
  ],
  [
    'Read a.txt, summarize it, then read b.txt, summarize it, then compare the summaries',
    everyTool,
    [
      'read_file {"path":"a.txt"}',
      'summarize_text {"text":{"$from":0,"path":"text"}} <-0',
      'read_file {"path":"b.txt"} <-1',
      'summarize_text {"text":{"$from":2,"path":"text"}} <-2',
      'compare_texts {"first":{"$from":1,"path":"summary"},"second":{"$from":3,"path":"summary"}} <-1,3',
    ],
  ],
  [
    'Search the web for tulips, fetch the first result, summarize the page, and write the summary to s.txt',
    everyTool,
    [
      'search_web {"query":"tulips"}',
      'fetch_url {"url":{"$from":0,"path":"results[0].url"}} <-0',
      'summarize_text {"text":{"$from":1,"path":"text"}} <-1',
      'write_file {"path":"s.txt","content":{"$from":2,"path":"summary"}} <-2',
    ],
  ],
  [
    'Read notes.txt and write its path to p.txt',
    everyTool,
    ['read_file {"path":"notes.txt"}', 'write_file {"path":"p.txt","content":{"$from":0,"path":"path"}} <-0'],
  ],
  [
    'Fetch https://example.org/a (if it fails, go on) and read b.txt, then merge both and write the text to c.txt',
    everyTool,
    [
      'fetch_url {"url":"https://example.org/a"} !continue',
      'read_file {"path":"b.txt"}',
      'merge_texts {"texts":[{"$from":0,"path":"text"},{"$from":1,"path":"text"}]} <-0,1 !continue',
      'write_file {"path":"c.txt","content":{"$from":2,"path":"text"}} <-2 !continue',
    ],
  ],
  [
    'Fetch https://example.org/a. If it fails, skip what depends on it. Summarize it.',
    everyTool,
    [
      'fetch_url {"url":"https://example.org/a"} !skip_dependents',
      'summarize_text {"text":{"$from":0,"path":"text"}} <-0',
    ],
  ],
  [
    'Ignore errors: fetch https://example.org/a and fetch https://example.org/b',
    everyTool,
    ['fetch_url {"url":"https://example.org/a"} !continue', 'fetch_url {"url":"https://example.org/b"} !continue'],
  ],
  [
    'First read a.txt. Then delete it. Finally list the files.',
    everyTool,
    ['read_file {"path":"a.txt"}', 'delete_file {"path":"a.txt"} <-0', 'list_files {} <-1'],
  ],
  ['Delete a.txt after reading it', everyTool, ['read_file {"path":"a.txt"}', 'delete_file {"path":"a.txt"} <-0']],
  [
    'List the events of 2026-05-01 and of 2026-05-02',
    everyTool,
    ['list_events {"date":"2026-05-01"}', 'list_events {"date":"2026-05-02"}'],
  ],
  [
    'Get the price of AAPL and write it to price.txt',
    everyTool,
    ['get_stock_price {"symbol":"AAPL"}', 'write_file {"path":"price.txt","content":"{{STEPS.0}}"} <-0'],
  ],
  [
    'Get the prices of AAPL and MSFT, convert both from USD to EUR, and compute the average of both',
    everyTool,
    [
      'get_stock_price {"symbol":"AAPL"}',
      'get_stock_price {"symbol":"MSFT"}',
      'convert_currency {"amount":{"$from":0,"path":"price"},"from":"USD","to":"EUR"} <-0',
      'convert_currency {"amount":{"$from":1,"path":"price"},"from":"USD","to":"EUR"} <-1',
      'average_numbers {"numbers":[{"$from":2,"path":"amount"},{"$from":3,"path":"amount"}]} <-2,3',
    ],
  ],
  ['Count the words in "the quick brown fox"', everyTool, ['count_words {"text":"the quick brown fox"}']],
  [
    'Merge a.txt and b.txt, and count the words of the result',
    everyTool,
    [
      'read_file {"path":"a.txt"}',
      'read_file {"path":"b.txt"}',
      'merge_texts {"texts":[{"$from":0,"path":"text"},{"$from":1,"path":"text"}]} <-0,1',
      'count_words {"text":{"$from":2,"path":"text"}} <-2',
    ],
  ],
  [
    'Write "{{ not a reference }}" to a.txt',
    everyTool,
    ['write_file {"path":"a.txt","content":"{{ not a reference }}"}'],
  ],
  ['Write "then delete b.txt" to a.txt', everyTool, ['write_file {"path":"a.txt","content":"then delete b.txt"}']],
  [
    'Write "if it fails, continue" to a.txt',
    everyTool,
    ['write_file {"path":"a.txt","content":"if it fails, continue"}'],
  ],
  ['Read ../../etc/passwd', everyTool, ['read_file {"path":"../../etc/passwd"}']],
  [
    'Mail "Hi" to bob@example.org with the subject "Greetings"',
    everyTool,
    ['send_mail {"to":"bob@example.org","subject":"Greetings","body":"Hi"}'],
  ],
  [
    'Send a mail to bob@example.org, subject "Hi", saying see you soon',
    everyTool,
    ['send_mail {"to":"bob@example.org","subject":"Hi","body":"see you soon"}'],
  ],
  [
    'Extract the keywords from a.txt and write them to k.txt',
    everyTool,
    [
      'read_file {"path":"a.txt"}',
      'extract_keywords {"text":{"$from":0,"path":"text"}} <-0',
      'write_file {"path":"k.txt","content":"{{STEPS.1.keywords}}"} <-1',
    ],
  ],
  [
    'Read a.txt and compare it with b.txt',
    everyTool,
    [
      'read_file {"path":"a.txt"}',
      'read_file {"path":"b.txt"}',
      'compare_texts {"first":{"$from":0,"path":"text"},"second":{"$from":1,"path":"text"}} <-0,1',
    ],
  ],
  [
    'Cancel the event ev_1 and create an event called "New" on 2026-01-02',
    everyTool,
    ['cancel_event {"id":"ev_1"}', 'create_event {"title":"New","date":"2026-01-02"}'],
  ],
  [
    'Calculate 2 + 2 and write the result to four.txt',
    everyTool,
    ['calculate {"expression":"2 + 2"}', 'write_file {"path":"four.txt","content":"{{STEPS.0.result}}"} <-0'],
  ],
  [
    'Measure the readability of https://example.org/a and of b.txt, then write the results to r.md',
    everyTool,
    [
      'fetch_url {"url":"https://example.org/a"}',
      'read_file {"path":"b.txt"}',
      'measure_readability {"text":{"$from":0,"path":"text"}} <-0',
      'measure_readability {"text":{"$from":1,"path":"text"}} <-1',
      'write_file {"path":"r.md","content":"# Findings\\n\\n## https://example.org/a\\n\\n{{STEPS.2}}\\n\\n## b.txt\\n\\n{{STEPS.3}}\\n"} <-2,3',
    ],
  ],
  ['Show me README.md', files, ['read_file {"path":"README.md"}']],
  ['Please could you read docs/guide.md?', files, ['read_file {"path":"docs/guide.md"}']],
  ['List the files', files, ['list_files {}']],
  [
    'Write "hello" to a.txt. Write "bye" to a.txt.',
    files,
    ['write_file {"path":"a.txt","content":"hello"}', 'write_file {"path":"a.txt","content":"bye"} <-0'],
  ],
  [
    'Read a.txt and write its text to b.txt',
    files,
    ['read_file {"path":"a.txt"}', 'write_file {"path":"b.txt","content":{"$from":0,"path":"text"}} <-0'],
  ],
  [
    'Read a.txt, then read b.txt, then read c.txt',
    files,
    ['read_file {"path":"a.txt"}', 'read_file {"path":"b.txt"} <-0', 'read_file {"path":"c.txt"} <-1'],
  ],
  ['Read a.txt before reading b.txt', files, ['read_file {"path":"a.txt"}', 'read_file {"path":"b.txt"} <-0']],
  ['Get rid of old.txt', files, ['delete_file {"path":"old.txt"}']],
  [
    'Count words in notes.txt and write the count to n.txt',
    documents,
    [
      'read_file {"path":"notes.txt"}',
      'count_words {"text":{"$from":0,"path":"text"}} <-0',
      'write_file {"path":"n.txt","content":"{{STEPS.1}}"} <-1',
    ],
  ],
  [
    'Translate a.txt and b.txt into German',
    documents,
    [
      'read_file {"path":"a.txt"}',
      'read_file {"path":"b.txt"}',
      'translate_text {"text":{"$from":0,"path":"text"},"language":"German"} <-0',
      'translate_text {"text":{"$from":1,"path":"text"},"language":"German"} <-1',
    ],
  ],
  [
    'Read a.txt and b.txt, translate both into German and write both translations to de.md',
    documents,
    [
      'read_file {"path":"a.txt"}',
      'read_file {"path":"b.txt"}',
      'translate_text {"text":{"$from":0,"path":"text"},"language":"German"} <-0',
      'translate_text {"text":{"$from":1,"path":"text"},"language":"German"} <-1',
      'write_file {"path":"de.md","content":"# Findings\\n\\n## a.txt\\n\\n{{STEPS.2.text}}\\n\\n## b.txt\\n\\n{{STEPS.3.text}}\\n"} <-2,3',
    ],
  ],
  [
    'Fetch https://example.org/a, summarize it and translate the summary into Dutch',
    documents,
    [
      'fetch_url {"url":"https://example.org/a"}',
      'summarize_text {"text":{"$from":0,"path":"text"}} <-0',
      'translate_text {"text":{"$from":1,"path":"summary"},"language":"Dutch"} <-1',
    ],
  ],
  [
    'Fetch https://example.org/a and https://example.org/b and compare them',
    documents,
    [
      'fetch_url {"url":"https://example.org/a"}',
      'fetch_url {"url":"https://example.org/b"}',
      'compare_texts {"first":{"$from":0,"path":"text"},"second":{"$from":1,"path":"text"}} <-0,1',
    ],
  ],
  [
    'Read a.txt, then summarize it, retrying twice, and write the summary to s.txt',
    documents,
    [
      'read_file {"path":"a.txt"}',
      'summarize_text {"text":{"$from":0,"path":"text"}} <-0 retry 2',
      'write_file {"path":"s.txt","content":{"$from":1,"path":"summary"}} <-1',
    ],
  ],
  [
    'Compare a.txt and b.txt, and compare c.txt and d.txt',
    documents,
    [
      'read_file {"path":"a.txt"}',
      'read_file {"path":"b.txt"}',
      'compare_texts {"first":{"$from":0,"path":"text"},"second":{"$from":1,"path":"text"}} <-0,1',
      'read_file {"path":"c.txt"}',
      'read_file {"path":"d.txt"}',
      'compare_texts {"first":{"$from":3,"path":"text"},"second":{"$from":4,"path":"text"}} <-3,4',
    ],
  ],
  [
    'Merge a.txt with https://example.org/b and summarize the result',
    documents,
    [
      'read_file {"path":"a.txt"}',
      'fetch_url {"url":"https://example.org/b"}',
      'merge_texts {"texts":[{"$from":0,"path":"text"},{"$from":1,"path":"text"}]} <-0,1',
      'summarize_text {"text":{"$from":2,"path":"text"}} <-2',
    ],
  ],
  [
    'Summarize a.txt, b.txt and c.txt separately',
    documents,
    [
      'read_file {"path":"a.txt"}',
      'read_file {"path":"b.txt"}',
      'read_file {"path":"c.txt"}',
      'summarize_text {"text":{"$from":0,"path":"text"}} <-0',
      'summarize_text {"text":{"$from":1,"path":"text"}} <-1',
      'summarize_text {"text":{"$from":2,"path":"text"}} <-2',
    ],
  ],
  ['Create a file b.txt with the text "hello"', documents, ['write_file {"path":"b.txt","content":"hello"}']],
  ['Convert 20 GBP to USD', numbers, ['convert_currency {"amount":20,"from":"GBP","to":"USD"}']],
  ['Compute the average of 3 and 5', numbers, ['average_numbers {"numbers":[3,5]}']],
  ['List the events of 2026-05-01', office, ['list_events {"date":"2026-05-01"}']],
  [
    'Create an event called "Lunch" on 2026-02-03, then create an event called "Dinner" on 2026-02-03',
    office,
    ['create_event {"title":"Lunch","date":"2026-02-03"}', 'create_event {"title":"Dinner","date":"2026-02-03"} <-0'],
  ],
  [
    'Get the weather in Rome and mail its summary to ann@example.org with the subject "Rome"',
    office,
    [
      'get_weather {"city":"Rome"}',
      'send_mail {"to":"ann@example.org","subject":"Rome","body":{"$from":0,"path":"summary"}} <-0',
    ],
  ],
  ['What is the weather in Paris?', office, ['get_weather {"city":"Paris"}']],
  [
    'Load https://example.org/a and https://example.org/b and shorten both',
    silent,
    [
      'load_page {"url":"https://example.org/a"}',
      'load_page {"url":"https://example.org/b"}',
      'shorten {"text":"{{STEPS.0}}"} <-0',
      'shorten {"text":"{{STEPS.1}}"} <-1',
    ],
  ],
  [
    'Open a.doc, shorten it and store the result as a note called x',
    silent,
    [
      'open_document {"path":"a.doc"}',
      'shorten {"text":"{{STEPS.0}}"} <-0',
      'store_note {"name":"x","content":"{{STEPS.1}}"} <-1',
    ],
  ],
];

test.each(plans)('%s', async (request, tools, expected) => {
  expect(await sketch(offlinePlanner(), request, tools)).toEqual(expected);
});
