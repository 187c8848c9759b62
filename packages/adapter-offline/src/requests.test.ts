import type { ToolDeclaration } from '@holdfast/core';
import { expect, test } from 'vitest';
import {
  type Call,
  allTools as everything,
  fileTools,
  foreignTools,
  homeTools,
  play,
  pluginTools,
  succeed,
  toolFrom,
  workspaceTools as workspace,
} from './fixtures.ts';

const temperature: ToolDeclaration = {
  name: 'convert_temperature',
  description: 'Convert a temperature between Celsius and Fahrenheit.',
  inputSchema: {
    type: 'object',
    properties: { degrees: { type: 'number' }, to: { enum: ['celsius', 'fahrenheit'], description: 'Target unit' } },
    required: ['degrees', 'to'],
  },
};
const looseQuery: ToolDeclaration = {
  name: 'query_json',
  description: 'Query a JSON file: get the value of a key or setting at a path.',
  inputSchema: {
    type: 'object',
    properties: {
      file: { type: 'string', description: 'Path of the JSON file' },
      query: { type: 'string', default: '', description: 'Keys and indexes to follow; empty for the whole value' },
    },
    required: ['file'],
  },
};
const todoList = '- src/a.ts:3 TODO fix\n- src/b.ts:9 FIXME later\n';

test.each<[string, readonly ToolDeclaration[], readonly Call[]]>([
  // files
  ['Which files are there?', workspace, [['list_files', {}]]],
  ['list the files in src', workspace, [['list_files', { path: 'src' }]]],
  ['What is in the docs folder?', workspace, [['list_files', { path: 'docs' }]]],
  ['Show me README.md', workspace, [['read_file', { path: 'README.md' }]]],
  ['What does notes.txt say?', workspace, [['read_file', { path: 'notes.txt' }]]],
  ['Open LICENSE', workspace, [['read_file', { path: 'LICENSE' }]]],
  ['Print the contents of data/users.json', workspace, [['read_file', { path: 'data/users.json' }]]],
  ['Read src/main.ts lines 10 to 20', workspace, [['read_file', { path: 'src/main.ts', startLine: 10, endLine: 20 }]]],
  ['Show the first 20 lines of README.md', fileTools, [['read_file', { path: 'README.md', endLine: 20 }]]],
  [
    'read a.txt and b.txt',
    workspace,
    [
      ['read_file', { path: 'a.txt' }],
      ['read_file', { path: 'b.txt' }],
    ],
  ],
  ['Write "hello world" to hello.txt', workspace, [['write_file', { path: 'hello.txt', content: 'hello world' }]]],
  ['Write hello world to hello.txt', workspace, [['write_file', { path: 'hello.txt', content: 'hello world' }]]],
  [
    'Create a file todo.txt containing buy milk and eggs',
    workspace,
    [['write_file', { path: 'todo.txt', content: 'buy milk and eggs' }]],
  ],
  [
    'Make a file called notes.txt with the text "hello"',
    workspace,
    [['write_file', { path: 'notes.txt', content: 'hello' }]],
  ],
  [
    'Replace "foo" with "bar" in src/a.ts',
    workspace,
    [['edit_file', { path: 'src/a.ts', oldText: 'foo', newText: 'bar' }]],
  ],
  ['Delete old.log', workspace, [['delete_file', { path: 'old.log' }]]],
  ['remove the file build/out.txt please', workspace, [['delete_file', { path: 'build/out.txt' }]]],
  ['Delete all .tmp files', workspace, [['delete_files', { pattern: '**/*.tmp' }]]],
  ['Remove all files ending in .tmp', workspace, [['delete_files', { pattern: '**/*.tmp' }]]],
  ['Delete every file with the extension .log', workspace, [['delete_files', { pattern: '**/*.log' }]]],
  ['wipe *.log', pluginTools, [['delete_files', { pattern: '*.log' }]]],
  ['Find all markdown files', workspace, [['glob_files', { pattern: '**/*.md' }]]],
  ['find files matching src/**/*.ts', workspace, [['glob_files', { pattern: 'src/**/*.ts' }]]],
  ["grep for 'foo\\d+' in the code", workspace, [['grep_files', { pattern: 'foo\\d+' }]]],
  ['Find every file that mentions "createSession"', fileTools, [['grep_files', { pattern: 'createSession' }]]],
  // plug-ins
  ['Search for parseConfig in src/', workspace, [['search_text', { query: 'parseConfig', path: 'src/' }]]],
  ['find the string hello world in docs/', workspace, [['search_text', { query: 'hello world', path: 'docs/' }]]],
  ['Where is loadTools used?', workspace, [['search_text', { query: 'loadTools' }]]],
  ['Please could you tell me which TODO comments exist?', workspace, [['list_todos', {}]]],
  ['How many TODOs do we have?', pluginTools, [['list_todos', {}]]],
  ['How many words are in notes.txt?', workspace, [['count_words', { path: 'notes.txt' }]]],
  ['How many lines does src/main.ts have?', workspace, [['count_words', { path: 'src/main.ts' }]]],
  ['Summarize orders.csv', workspace, [['summarize_csv', { path: 'orders.csv' }]]],
  ['give me statistics about sales.csv', workspace, [['summarize_csv', { path: 'sales.csv' }]]],
  [
    'What is the value of scripts.test in package.json?',
    workspace,
    [['query_json', { path: 'package.json', query: 'scripts.test' }]],
  ],
  [
    'Get suppliers[0].name from config/shop.json',
    [looseQuery],
    [['query_json', { file: 'config/shop.json', query: 'suppliers[0].name' }]],
  ],
  [
    'What is the value of server.host in config/shop.json?',
    [looseQuery],
    [['query_json', { file: 'config/shop.json', query: 'server.host' }]],
  ],
  ['get the version from package.json', workspace, [['query_json', { path: 'package.json', query: 'version' }]]],
  // tools that no rule was written for
  ["What's the weather in Paris?", everything, [['weather_fetcher', { city: 'Paris' }]]],
  ['Is it raining in Berlin?', foreignTools, [['weather_fetcher', { city: 'Berlin' }]]],
  [
    'What is 30 degrees celsius in fahrenheit?',
    [temperature],
    [['convert_temperature', { degrees: 30, to: 'fahrenheit' }]],
  ],
  [
    'Convert 72 degrees fahrenheit to celsius',
    [temperature],
    [['convert_temperature', { degrees: 72, to: 'celsius' }]],
  ],
  ['Convert 250 EUR to USD', everything, [['convert_currency', { amount: 250, from: 'EUR', to: 'USD' }]]],
  ['convert ten dollars from USD to JPY', foreignTools, [['convert_currency', { amount: 10, from: 'USD', to: 'JPY' }]]],
  [
    'Send an email to bob@example.com with subject "Lunch" saying let\'s meet at noon',
    everything,
    [['send_mail', { to: 'bob@example.com', subject: 'Lunch', body: "let's meet at noon" }]],
  ],
  [
    'Send a mail to bob@example.com. The subject is Lunch. The body is "see you".',
    everything,
    [['send_mail', { to: 'bob@example.com', subject: 'Lunch', body: 'see you' }]],
  ],
  [
    'Schedule a meeting "Planning" on 3 March 2026',
    everything,
    [['create_event', { title: 'Planning', date: '2026-03-03' }]],
  ],
  [
    'Create an event called Team Sync on 2026-03-03',
    everything,
    [['create_event', { title: 'Team Sync', date: '2026-03-03' }]],
  ],
  ['Set a timer for 2 hours', foreignTools, [['set_timer', { minutes: 120 }]]],
  ['set the timer to 5 minutes', foreignTools, [['set_timer', { minutes: 5 }]]],
  ['Switch the light on in the kitchen', foreignTools, [['switch_light', { room: 'kitchen', on: true }]]],
  ['switch off the light in the kitchen', foreignTools, [['switch_light', { room: 'kitchen', on: false }]]],
  [
    'Tag the photo beach.jpg with "sun" and "sea"',
    foreignTools,
    [['tag_photos', { photo: 'beach.jpg', tags: ['sun', 'sea'] }]],
  ],
  [
    'Find flights from Berlin to Lisbon on 2026-04-02',
    homeTools,
    [['search_flights', { origin: 'Berlin', destination: 'Lisbon', date: '2026-04-02' }]],
  ],
  [
    'I need a hotel room in Vienna on 12 June 2026 for two nights and 4 guests',
    homeTools,
    [['book_hotel', { city: 'Vienna', checkIn: '2026-06-12', nights: 2, guests: 4 }]],
  ],
  ["What's the price of AAPL?", homeTools, [['get_stock_price', { symbol: 'AAPL' }]]],
  [
    'Translate "good morning" into French',
    homeTools,
    [['translate_text', { text: 'good morning', language: 'French' }]],
  ],
  [
    'Open an issue titled "Crash on start" with labels bug and urgent',
    homeTools,
    [['create_issue', { title: 'Crash on start', labels: ['bug', 'urgent'] }]],
  ],
  ['close issue #17', homeTools, [['close_issue', { number: 17 }]]],
  ['Show me all closed issues', homeTools, [['list_issues', { state: 'closed' }]]],
  [
    'Add Jane Doe to my contacts, her email is jane@doe.org',
    homeTools,
    [['add_contact', { name: 'Jane Doe', email: 'jane@doe.org' }]],
  ],
  ['Resize photo.png to 800 by 600', homeTools, [['resize_image', { path: 'photo.png', width: 800, height: 600 }]]],
  ['Play Yesterday by the Beatles', homeTools, [['play_song', { title: 'Yesterday', artist: 'Beatles' }]]],
  ['Look for cheap bicycles on the internet', homeTools, [['search_web', { query: 'cheap bicycles' }]]],
  ['What is 12 * 7?', homeTools, [['calculate', { expression: '12 * 7' }]]],
  ['Restart the service nginx', homeTools, [['restart_service', { name: 'nginx' }]]],
  [
    'Search docs for installation instructions',
    workspace,
    [['search_text', { query: 'installation instructions', path: 'docs' }]],
  ],
  ['Get rid of all *.bak files', workspace, [['delete_files', { pattern: '*.bak' }]]],
  ['Read the file "my notes.txt"', workspace, [['read_file', { path: 'my notes.txt' }]]],
  ['what files do I have in docs?', workspace, [['list_files', { path: 'docs' }]]],
  ['Create an empty file named x.txt', workspace, [['write_file', { path: 'x.txt', content: '' }]]],
  ['Add 12 and 30', [toolFrom('add(a:integer, b:integer)', 'Add two numbers.')], [['add', { a: 12, b: 30 }]]],
  [
    'Turn off the bedroom light',
    [toolFrom('turn_off_light(room)', 'Switch off the light in a room.')],
    [['turn_off_light', { room: 'bedroom' }]],
  ],
  [
    'Delete all .log files',
    [toolFrom('remove_matching(pattern)', 'Delete the files whose path matches a wildcard pattern.')],
    [['remove_matching', { pattern: '**/*.log' }]],
  ],
  [
    'Count the words of all markdown files',
    [toolFrom('count_words(file?, ending?)', 'Count the words of one file, or of all files with a name ending.')],
    [['count_words', { ending: '.md' }]],
  ],
  [
    'List all files, then read package.json',
    workspace,
    [
      ['list_files', {}],
      ['read_file', { path: 'package.json' }],
    ],
  ],
  ["what's in README.md", workspace, [['read_file', { path: 'README.md' }]]],
  ['Turn on the light in the hall', foreignTools, [['switch_light', { room: 'hall', on: true }]]],
  ['Read a.txt but do not delete it', workspace, [['read_file', { path: 'a.txt' }]]],
  ['Do not read a.txt; read b.txt', workspace, [['read_file', { path: 'b.txt' }]]],
  ['Open src/index.ts and tell me what it says', workspace, [['read_file', { path: 'src/index.ts' }]]],
  // optional arguments are left alone unless they are clearly given; a CSV tool has nothing to say about Markdown
  ['Read a.txt to my 5 friends', workspace, [['read_file', { path: 'a.txt' }]]],
  ['Read README.md and summarise it', workspace, [['read_file', { path: 'README.md' }]]],
  [
    'Read orders.csv and summarise it',
    workspace,
    [
      ['read_file', { path: 'orders.csv' }],
      ['summarize_csv', { path: 'orders.csv' }],
    ],
  ],
  // several clauses
  [
    'Collect all TODO comments into a file named todos.txt',
    workspace,
    [
      ['list_todos', {}],
      ['write_file', { path: 'todos.txt', content: 'src/a.ts:3 TODO fix\nsrc/b.ts:9 FIXME later\n' }],
    ],
  ],
  [
    'Write the word count of README.md to count.txt',
    workspace,
    [
      ['count_words', { path: 'README.md' }],
      ['write_file', { path: 'count.txt', content: 'words: 12\nlines: 3\n' }],
    ],
  ],
  [
    'List every TODO comment in the sources and write them to report.md',
    everything,
    [
      ['list_todos', {}],
      ['write_file', { path: 'report.md', content: `# TODO comment in the sources\n\n${todoList}` }],
    ],
  ],
  [
    'Find all TODOs and save the list to docs/todo.md',
    workspace,
    [
      ['list_todos', {}],
      ['write_file', { path: 'docs/todo.md', content: `# TODOs\n\n${todoList}` }],
    ],
  ],
  [
    'Write a list of all TODO comments to report.md',
    workspace,
    [
      ['list_todos', {}],
      ['write_file', { path: 'report.md', content: `# TODO comments\n\n${todoList}` }],
    ],
  ],
  [
    'Put a summary of orders.csv into summary.json',
    workspace,
    [
      ['summarize_csv', { path: 'orders.csv' }],
      [
        'write_file',
        { path: 'summary.json', content: '{\n  "rows": 10,\n  "columns": [\n    "a",\n    "b"\n  ]\n}\n' },
      ],
    ],
  ],
  [
    'Search for "hit" in docs, then write the matches to found.csv',
    workspace,
    [
      ['search_text', { query: 'hit', path: 'docs' }],
      ['write_file', { path: 'found.csv', content: 'file,line,text\nx.md,4,hit\n' }],
    ],
  ],
  [
    'Count the words in README.md; write the result to stats.txt',
    workspace,
    [
      ['count_words', { path: 'README.md' }],
      ['write_file', { path: 'stats.txt', content: 'words: 12\nlines: 3\n' }],
    ],
  ],
  [
    'Find files matching src/**/*.ts, then read them',
    fileTools,
    [
      ['glob_files', { pattern: 'src/**/*.ts' }],
      ['read_file', { path: 'src/a.ts' }],
      ['read_file', { path: 'src/b.ts' }],
    ],
  ],
  [
    'Get the weather in Oslo and email it to ann@example.com',
    everything,
    [
      ['weather_fetcher', { city: 'Oslo' }],
      ['send_mail', { to: 'ann@example.com', subject: 'Weather in Oslo', body: 'temperature: 21\n' }],
    ],
  ],
  [
    'List all files and then delete old.txt',
    workspace,
    [
      ['list_files', {}],
      ['delete_file', { path: 'old.txt' }],
    ],
  ],
  ['List every TODO comment and show them to me', workspace, [['list_todos', {}]]],
])('%s', async (request, tools, calls) => {
  expect((await play(request, tools, succeed)).calls).toEqual(calls);
});
