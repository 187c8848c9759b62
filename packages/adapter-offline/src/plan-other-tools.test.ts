import { expect, test } from 'vitest';
import { offlinePlanner } from './offline-planner.ts';
import { plannerTool, sketch } from './test-plan-tools.ts';

// Tools of other trades than those that the planner was made with. When it first saw them, 14 of the 30 plans were right.
const tools = [
  plannerTool('get_ticket(ticket_id)', 'Get a support ticket.', {
    gives: { ticket_id: 'string', subject: 'string', body: 'string', customer: 'string' },
  }),
  plannerTool('list_tickets(status?:open|closed)', 'List support tickets.', {
    gives: { tickets: '{ticket_id subject}[]', total: 'integer' },
  }),
  plannerTool('reply_ticket(ticket_id, message)', 'Reply to a support ticket.', { effects: 'external' }),
  plannerTool('close_ticket(ticket_id)', 'Close a support ticket.', { effects: 'external' }),
  plannerTool('classify_sentiment(text)', 'Classify the sentiment of a text.', {
    gives: { sentiment: 'string', confidence: 'number' },
  }),
  plannerTool('detect_language(text)', 'Detect the language of a text.', { gives: { language: 'string' } }),
  plannerTool('resize_image(path, width:integer)', 'Resize an image.', {
    gives: { path: 'string', bytes: 'integer' },
    effects: 'state',
  }),
  plannerTool('upload_file(path)', 'Upload a file to the store.', { gives: { url: 'string' }, effects: 'external' }),
  plannerTool('shorten_url(url)', 'Shorten a URL.', { gives: { short_url: 'string' } }),
  plannerTool('post_message(channel, text)', 'Post a message to a chat channel.', { effects: 'external' }),
  plannerTool('run_query(sql)', 'Run a SQL query on the database.', {
    gives: { rows: '{name amount}[]', row_count: 'integer' },
  }),
  plannerTool('plot_chart(rows, title)', 'Plot a chart of some rows.', { gives: { image: 'string' } }),
  plannerTool('create_invoice(customer, amount:number)', 'Create an invoice for a customer.', {
    gives: { invoice_id: 'string', pdf_url: 'string' },
    effects: 'external',
  }),
  plannerTool('geocode(address)', 'Find the coordinates of an address.', {
    gives: { latitude: 'number', longitude: 'number' },
  }),
  plannerTool(
    'measure_distance(from_latitude:number, from_longitude:number, to_latitude:number, to_longitude:number)',
    'Measure the distance between two points.',
    {
      gives: { kilometres: 'number' },
    },
  ),
  plannerTool('nearest_station(latitude:number, longitude:number)', 'Find the nearest railway station.', {
    gives: { station: 'string', metres: 'number' },
  }),
  plannerTool('drop_table(table)', 'Drop a table of the database.', { effects: 'external', dangerous: true }),
  plannerTool('get_time(city)', 'Get the local time of a city.', { gives: { time: 'string' } }),
];

const cases: readonly (readonly [request: string, expected: readonly string[] | 'decline'])[] = [
  ['Get ticket T-100', ['get_ticket {"ticket_id":"T-100"}']],
  [
    'Get ticket T-100 and classify the sentiment of its body',
    ['get_ticket {"ticket_id":"T-100"}', 'classify_sentiment {"text":{"$from":0,"path":"body"}} <-0'],
  ],
  [
    'Get ticket T-100, detect the language of the body, and reply to the ticket saying "We are on it"',
    [
      'get_ticket {"ticket_id":"T-100"}',
      'detect_language {"text":{"$from":0,"path":"body"}} <-0',
      'reply_ticket {"ticket_id":"T-100","message":"We are on it"} <-0',
    ],
  ],
  [
    'Resize logo.png to a width of 300, then upload it and shorten the url',
    [
      'resize_image {"path":"logo.png","width":300}',
      'upload_file {"path":{"$from":0,"path":"path"}} <-0',
      'shorten_url {"url":{"$from":1,"path":"url"}} <-1',
    ],
  ],
  ['Upload a.pdf and b.pdf', ['upload_file {"path":"a.pdf"}', 'upload_file {"path":"b.pdf"}']],
  [
    'Upload a.pdf and post its url to the channel "news"',
    ['upload_file {"path":"a.pdf"}', 'post_message {"channel":"news","text":{"$from":0,"path":"url"}} <-0'],
  ],
  [
    'List the open tickets and get the first ticket',
    ['list_tickets {"status":"open"}', 'get_ticket {"ticket_id":{"$from":0,"path":"tickets[0].ticket_id"}} <-0'],
  ],
  ['List the closed tickets', ['list_tickets {"status":"closed"}']],
  ['Close ticket T-7 and ticket T-8', ['close_ticket {"ticket_id":"T-7"}', 'close_ticket {"ticket_id":"T-8"}']],
  [
    'Get the time in Tokyo, Lima and Oslo',
    ['get_time {"city":"Tokyo"}', 'get_time {"city":"Lima"}', 'get_time {"city":"Oslo"}'],
  ],
  [
    'Find the coordinates of "1 Main Street, Springfield" and find the nearest railway station',
    [
      'geocode {"address":"1 Main Street, Springfield"}',
      'nearest_station {"latitude":{"$from":0,"path":"latitude"},"longitude":{"$from":0,"path":"longitude"}} <-0',
    ],
  ],
  [
    'Run the query "select name, amount from sales" and post the row count to the channel "numbers"',
    [
      'run_query {"sql":"select name, amount from sales"}',
      'post_message {"channel":"numbers","text":"{{STEPS.0.row_count}}"} <-0',
    ],
  ],
  [
    'Create an invoice for the customer Ann over the amount 250 and post the pdf url to the channel "billing"',
    [
      'create_invoice {"customer":"Ann","amount":250}',
      'post_message {"channel":"billing","text":{"$from":0,"path":"pdf_url"}} <-0',
    ],
  ],
  [
    'Post "Good morning" to the channel "all", then post "Lunch" to the channel "all"',
    ['post_message {"channel":"all","text":"Good morning"}', 'post_message {"channel":"all","text":"Lunch"} <-0'],
  ],
  [
    'Get ticket T-1 and ticket T-2 and classify the sentiment of both bodies',
    [
      'get_ticket {"ticket_id":"T-1"}',
      'get_ticket {"ticket_id":"T-2"}',
      'classify_sentiment {"text":{"$from":0,"path":"body"}} <-0',
      'classify_sentiment {"text":{"$from":1,"path":"body"}} <-1',
    ],
  ],
  [
    'Shorten the URL https://example.org/very/long and post it to the channel "links"',
    [
      'shorten_url {"url":"https://example.org/very/long"}',
      'post_message {"channel":"links","text":{"$from":0,"path":"short_url"}} <-0',
    ],
  ],
  [
    'Before closing ticket T-9, reply to it with the message "Bye"',
    ['reply_ticket {"ticket_id":"T-9","message":"Bye"}', 'close_ticket {"ticket_id":"T-9"} <-0'],
  ],
  [
    'Reply to ticket T-9 with the message "Done" and close it; if anything fails, carry on',
    ['reply_ticket {"ticket_id":"T-9","message":"Done"} !continue', 'close_ticket {"ticket_id":"T-9"} <-0 !continue'],
  ],
  ['Drop the table customers', ['drop_table {"table":"customers"}']],
  ['Clear the database', 'decline'],
  ['Get the ticket', 'decline'],
  ['Reply to all open tickets with "We are closed today"', 'decline'],
  ['Book a table for two', 'decline'],
  ['Resize every image in photos to 200 pixels', 'decline'],
  ['Post the weather to the channel "news"', 'decline'],
  ['Close the tickets that are older than a month', 'decline'],
  ['Get ticket T-1 unless it is closed', 'decline'],
  ['Classify the sentiment of the ticket', 'decline'],
  ['Create an invoice for Ann', 'decline'],
  ['Translate ticket T-1 into German', 'decline'],
];

test('requests over tools that it was not made with: how many of the plans are exactly what was meant', async () => {
  const wrong: string[] = [];
  for (const [request, expected] of cases) {
    const lines = await sketch(offlinePlanner(), request, tools);
    const fits =
      expected === 'decline' ? lines[0]?.startsWith('error: ') === true : lines.join('\n') === expected.join('\n');
    if (!fits) wrong.push(`${request}\n  ${lines.join('\n  ')}`);
  }
  expect(cases.length - wrong.length, wrong.join('\n')).toBeGreaterThanOrEqual(29);
});
