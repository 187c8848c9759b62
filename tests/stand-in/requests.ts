// Requests of a newcomer in the first half hour with `npm start`, in a copy of the sample project. Based on the tools and the files,
// not on the stand-in's abilities; useful only as long as the stand-in is not tuned to them. `judge.ts` explains the
// fields.
import type { StandInRequest } from './judge.ts';

const reading: readonly StandInRequest[] = [
  { request: 'Read the README', right: { answer: ['order desk of a small bicycle shop'] } },
  { request: 'show me notes/meeting.md', right: { answer: ['tax rate changes in January', 'Thursday at nine'] } },
  { request: 'whats in ideas.txt', right: { answer: ['Rent out cargo bikes', 'Ask Radhaus'] }, wrong: ['Mara'] },
  { request: 'print the first 5 lines of data/orders.csv', right: { answer: ['1001', '1004'] }, wrong: ['1006'] },
  { request: 'cat package.json', right: { answer: ['corner-shop', '0.3.0'] } },
  { request: 'What does src/price.ts do?', right: { answer: ['price of some pieces of a product'] } },
  // The file is missing.
  { request: 'read TODO.md', right: 'asks or fails' },
  // Which file?
  { request: 'open the file', right: 'asks' },
];

const listing: readonly StandInRequest[] = [
  {
    request: 'list files',
    right: { answer: ['README.md', 'config', 'data', 'notes', 'package.json', 'scripts', 'src'] },
  },
  {
    request: 'what files are in src?',
    right: { answer: ['price.ts', 'report.mjs', 'stock.ts', 'style.css'] },
    wrong: ['orders.csv', 'backup.sh'],
  },
  {
    request: 'list all the typescript files',
    right: { answer: ['price.ts', 'stock.ts'] },
    wrong: ['report.mjs', 'style.css'],
  },
  { request: 'is there a css file somewhere?', right: { answer: ['style.css'] }, wrong: ['price.ts'] },
];

const searching: readonly StandInRequest[] = [
  { request: 'where is priceOf used?', right: { answer: ['price.ts', 'report.mjs'] }, wrong: ['style.css'] },
  { request: 'which files mention umlauts', right: { answer: ['meeting.md'] }, wrong: ['ideas.txt', 'style.css'] },
  {
    request: 'grep "export function" in src',
    right: { answer: ['price.ts', 'stock.ts'] },
    wrong: ['report.mjs', 'style.css'],
  },
  { request: 'find Ada Berg in data/orders.csv', right: { answer: ['1001', '1004', '1010'] }, wrong: ['1002'] },
  {
    request: 'does anything mention kubernetes?',
    right: {
      answer: [['no', 'nothing', 'none', '0', 'not found']],
      by: ['grep_files', 'search_text'],
    },
    wrong: ['style.css'],
  },
];

const counting: readonly StandInRequest[] = [
  { request: 'how many words does notes/meeting.md have', right: { answer: ['47'] }, wrong: ['805'] },
  { request: 'how many lines are in src/report.mjs', right: { answer: ['26'] }, wrong: ['160'] },
  { request: 'word count of all md files', right: { answer: ['119'] }, wrong: ['805'] },
  { request: 'how many files are there in this project', right: { answer: ['12'] } },
  { request: 'cuont the words in README.md', right: { answer: ['72'] }, wrong: ['805'] },
];

const writing: readonly StandInRequest[] = [
  { request: 'make a file called shopping.txt that says buy milk', right: { files: { 'shopping.txt': 'buy milk' } } },
  {
    request: 'Write "Closed on Sunday" to notes/hours.txt',
    right: { files: { 'notes/hours.txt': 'Closed on Sunday' } },
  },
  {
    request: 'add the line "Buy new brake pads" to notes/ideas.txt',
    right: { files: { 'notes/ideas.txt': { like: 'notes/ideas.txt', append: 'Buy new brake pads' } } },
  },
  { request: 'create an empty file notes/draft.md', right: { files: { 'notes/draft.md': '' } } },
  // No tool writes poems, and these words are not one.
  { request: 'write a poem about bicycles to poem.txt', right: 'asks' },
];

const editing: readonly StandInRequest[] = [
  {
    request: 'In config/shop.json change "localhost" to "0.0.0.0"',
    right: { files: { 'config/shop.json': { like: 'config/shop.json', replace: ['localhost', '0.0.0.0'] } } },
  },
  {
    request: 'replace Thursday with Friday in notes/meeting.md',
    right: { files: { 'notes/meeting.md': { like: 'notes/meeting.md', replace: ['Thursday', 'Friday'] } } },
  },
  {
    request: 'rename taxRate to vatRate in src/price.ts',
    right: { files: { 'src/price.ts': { like: 'src/price.ts', replace: ['taxRate', 'vatRate'] } } },
  },
  {
    request: 'set the version in package.json to 0.4.0',
    right: { files: { 'package.json': { like: 'package.json', replace: ['0.3.0', '0.4.0'] } } },
  },
];

const deleting: readonly StandInRequest[] = [
  { request: 'delete scripts/backup.sh', right: { files: { 'scripts/backup.sh': null } } },
  { request: 'rm all the .css files', right: { files: { 'src/style.css': null } } },
  // The file is missing. "No matching file" is also an answer.
  {
    request: 'delete old_notes.txt',
    right: ['asks or fails', { answer: [['0', 'no', 'nothing', 'none']], by: ['delete_files'] }],
  },
  // Which files are old?
  { request: 'delete the old files', right: 'asks' },
];

const querying: readonly StandInRequest[] = [
  {
    request: 'what is the standard tax rate in config/shop.json',
    right: { answer: ['0.19'] },
    wrong: ['Radhaus'],
  },
  { request: 'get suppliers[0].name from config/shop.json', right: { answer: ['Radhaus'] }, wrong: ['Lumen'] },
  { request: 'which ports does the shop server use?', right: { answer: ['8080', '8443'] }, wrong: ['Radhaus'] },
];

// Hanna Lind is in the rows, but not in a summary of them, and her order is shipped.
const summarizing: readonly StandInRequest[] = [
  { request: 'summarise data/orders.csv', right: { answer: ['16', 'quantity', '4.4375'] } },
  {
    request: "what's the average quantity in the orders?",
    right: { answer: [['4.4375', '4.438', '4.44', '4.4']] },
    wrong: ['Hanna Lind'],
  },
  { request: 'sum of unit_price in data/orders.csv', right: { answer: ['337.35'] }, wrong: ['Hanna Lind'] },
  {
    request: 'how many orders are still open?',
    right: [{ answer: ['4'], by: ['summarize_csv'] }, { answer: ['1008', '1011', '1012', '1016'] }],
    wrong: ['Hanna Lind', 'opening_hours'],
  },
  // The file is missing.
  { request: 'how many rows are in sales.csv?', right: 'asks or fails' },
];

const todos: readonly StandInRequest[] = [
  {
    request: 'list the todos',
    right: { answer: ['delete archives', 'take the date range', 'print styles for the report'] },
  },
  {
    request: 'any FIXMEs in src?',
    right: { answer: ['a comma inside quotes', 'two orders at the same moment'] },
    wrong: ['print styles', 'nobody wrote it down'],
  },
];

const chains: readonly StandInRequest[] = [
  {
    request: 'find the TODOs in src and write them to todos.md',
    right: {
      files: { 'todos.md': { has: ['take the date range', 'order again when fewer'], lacks: ['older than a year'] } },
    },
  },
  {
    request: 'Count the words in README.md and save the result to count.txt',
    right: { files: { 'count.txt': { has: ['72'], lacks: ['805'] } } },
  },
  {
    request: 'search for helmet and put the matches in helmet.txt',
    right: { files: { 'helmet.txt': { has: ['stock.ts', 'orders.csv', 'meeting.md'], lacks: ['style.css'] } } },
  },
  {
    request: 'get the name from config/shop.json and write it to name.txt',
    right: { files: { 'name.txt': { has: ['Corner Shop'], lacks: ['Radhaus'] } } },
  },
  {
    request: 'read notes/ideas.txt and tell me how many words it has',
    right: { answer: ['21'] },
    wrong: ['805'],
  },
  { request: 'copy README.md to docs/README.md', right: { files: { 'docs/README.md': { like: 'README.md' } } } },
  {
    request: 'read notes/ideas.txt, write it to old/ideas.txt and then delete notes/ideas.txt',
    right: { files: { 'old/ideas.txt': { like: 'notes/ideas.txt' }, 'notes/ideas.txt': null } },
  },
];

// Beyond these tools: a file's text is not a summary, and reading a program does not run it.
const beyond: readonly StandInRequest[] = [
  { request: "what's the weather like in Berlin?", right: 'asks' },
  { request: 'tell me a joke', right: 'asks' },
  { request: 'what is 17 * 23', right: ['asks', { answer: ['391'], by: [] }] },
  { request: 'translate README.md to German', right: 'asks' },
  { request: 'what can you do?', right: ['asks', { answer: [['read', 'list', 'search']], by: [] }] },
  { request: 'run the report', right: 'asks' },
  { request: 'summarize the meeting notes', right: 'asks' },
  { request: 'hi', right: 'asks' },
];

export const requests: readonly StandInRequest[] = [
  ...reading,
  ...listing,
  ...searching,
  ...counting,
  ...writing,
  ...editing,
  ...deleting,
  ...querying,
  ...summarizing,
  ...todos,
  ...chains,
  ...beyond,
];
