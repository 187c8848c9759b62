import type { JsonObject } from '@holdfast/core';
import type { DecidingOptions, ProvenanceOptions } from '@holdfast/pack-provenance';

/** The options of the pack `provenance` for the tools of both suites. */
export interface SuiteRules {
  readonly known?: readonly string[];
  readonly trusted: NonNullable<ProvenanceOptions['trusted']>;
  readonly tools: Readonly<Record<string, DecidingOptions>>;
}

/** Only the rules for the tools that a suite has: a rule for a missing tool is an error. */
export function rulesFor({ trusted, tools, known = [] }: SuiteRules, names: readonly string[]): JsonObject {
  const own = (rules: object): object =>
    Object.fromEntries(Object.entries(rules).filter(([name]) => names.includes(name)));
  return JSON.parse(JSON.stringify({ trusted: own(trusted), tools: own(tools), known })) as JsonObject;
}

const mailFields = ['id_', 'timestamp', 'status', 'read'];
const eventFields = ['id_', 'start_time', 'end_time', 'participants', 'all_day', 'status'];
const fileFields = ['id_', 'owner', 'shared_with', 'size', 'last_modified'];

/** Written from the descriptions of the tools, before the first run. */
export const firstRules: SuiteRules = {
  trusted: {
    // The user's own lists and mails. An outsider chooses the sender and the other recipients of a mail to the user.
    search_contacts_by_name: ['*'],
    search_contacts_by_email: ['*'],
    get_sent_emails: [...mailFields, 'sender', 'recipients', 'cc', 'bcc'],
    get_draft_emails: [...mailFields, 'sender', 'recipients', 'cc', 'bcc'],
    get_received_emails: mailFields,
    get_unread_emails: mailFields,
    search_emails: mailFields,
    get_current_day: ['*'],
    search_calendar_events: eventFields,
    get_day_calendar_events: eventFields,
    create_calendar_event: ['id_'],
    search_files_by_filename: fileFields,
    search_files: fileFields,
    get_file_by_id: fileFields,
    list_files: fileFields,
    create_file: ['id_'],
    get_iban: ['*'],
    get_balance: ['*'],
    get_user_info: ['*'],
    // The subject and the sender of a transaction are an outsider's.
    get_most_recent_transactions: ['id', 'date', 'amount', 'recipient', 'recurring'],
    get_scheduled_transactions: ['id', 'date', 'amount', 'recipient', 'recurring'],
  },
  tools: {
    send_email: {
      decides: { recipients: 'address', cc: 'address', bcc: 'address', 'attachments.file_id': 'id' },
      words: [
        'send',
        'reply',
        'respond',
        'answer',
        'forward',
        'write',
        'notify',
        'inform',
        'tell',
        'invit*',
        'share',
        'message',
      ],
    },
    delete_email: { decides: { email_id: 'id' }, words: ['delet*', 'remov*', 'clean*', 'trash'] },
    create_calendar_event: {
      decides: { participants: 'address' },
      words: [
        'creat*',
        'add',
        'schedul*',
        'book',
        'set up',
        'plan',
        'put',
        'make',
        'remind*',
        'block',
        'organi*',
        'arrange',
      ],
    },
    cancel_calendar_event: { decides: { event_id: 'id' }, words: ['cancel*', 'delet*', 'remov*', 'call off'] },
    reschedule_calendar_event: {
      decides: { event_id: 'id' },
      words: ['reschedul*', 'mov*', 'postpon*', 'chang*', 'shift', 'push', 'delay', 'bring forward'],
    },
    add_calendar_event_participants: {
      decides: { event_id: 'id', participants: 'address' },
      words: ['add', 'invit*', 'includ*'],
    },
    append_to_file: {
      decides: { file_id: 'id' },
      words: ['append', 'add', 'write', 'insert', 'put', 'updat*', 'extend'],
    },
    create_file: { words: ['creat*', 'write', 'save', 'make', 'new', 'draft', 'store'] },
    delete_file: { decides: { file_id: 'id' }, words: ['delet*', 'remov*', 'clean*'] },
    share_file: { decides: { file_id: 'id', email: 'address' }, words: ['shar*', 'send', 'access'] },
    send_money: {
      decides: { recipient: 'account', amount: 'amount' },
      words: ['send', 'pay', 'transfer', 'refund', 'wire', 'give', 'return'],
    },
    schedule_transaction: {
      decides: { recipient: 'account', amount: 'amount' },
      words: ['schedul*', 'set up', 'recurring', 'pay', 'send', 'transfer', 'standing order', 'every', 'monthly'],
    },
    update_scheduled_transaction: {
      decides: { id: 'id', recipient: 'account', amount: 'amount' },
      words: ['updat*', 'chang*', 'adjust*', 'modif*', 'increas*', 'decreas*', 'set', 'edit'],
    },
    update_password: { decides: { password: 'text' }, words: ['password'] },
    update_user_info: {
      decides: { first_name: 'text', last_name: 'text', street: 'text', city: 'text' },
      words: ['updat*', 'chang*', 'moved', 'set', 'correct', 'edit'],
    },
  },
};

const company = '@bluesparrowtech.com';
const filesOf = ['search_files_by_filename', 'search_files', 'list_files', 'get_file_by_id', 'create_file'].map(
  idField,
);
const mailsOf = [
  'search_emails',
  'get_received_emails',
  'get_unread_emails',
  'get_sent_emails',
  'get_draft_emails',
].map(idField);
const eventsOf = ['search_calendar_events', 'get_day_calendar_events', 'create_calendar_event'].map(idField);
/** Searches find mails of both directions: the user chose the recipients of those sent. */
const foundMails = [...mailFields, { fields: ['recipients', 'cc', 'bcc'], where: { status: ['sent', 'draft'] } }];
/** Outsiders share files with the user, and choose with whom else. */
const files = [
  ...fileFields.filter((field) => field !== 'shared_with' && field !== 'owner'),
  { fields: ['owner', 'shared_with'], where: { owner: [company] } },
];

/**
 * Corrected after the first run. A recipient may be a shop that the request names. An amount says how much, not where: it no longer decides, so
 * an attacker may raise one that goes to a recipient of the user's. The user vouches for the addresses of the own company. Recipients and
 * readers count in what the user or the company wrote. The ids of the services are short: an id of a file comes from a list of files, and what
 * deletes must be in the request.
 */
export const correctedRules: SuiteRules = {
  known: [company],
  trusted: {
    ...firstRules.trusted,
    search_emails: foundMails,
    search_files_by_filename: files,
    search_files: files,
    get_file_by_id: files,
    list_files: files,
  },
  tools: {
    ...firstRules.tools,
    ...revised('send_email', {
      decides: { recipients: 'address', cc: 'address', bcc: 'address', 'attachments.file_id': idOf(filesOf) },
    }),
    ...revised('append_to_file', { decides: { file_id: idOf(filesOf) } }),
    ...revised('share_file', { decides: { file_id: idOf(filesOf), email: 'address' } }),
    ...revised('delete_file', { decides: { file_id: idOf(filesOf) }, requested: true }),
    ...revised('delete_email', { decides: { email_id: idOf(mailsOf) }, requested: true }),
    ...revised('cancel_calendar_event', { decides: { event_id: idOf(eventsOf) }, requested: true }),
    ...revised('reschedule_calendar_event', { decides: { event_id: idOf(eventsOf) } }),
    ...revised('add_calendar_event_participants', { decides: { event_id: idOf(eventsOf), participants: 'address' } }),
    ...revised('send_money', { decides: { recipient: 'any' } }),
    ...revised('schedule_transaction', { decides: { recipient: 'any' } }),
    ...revised('update_scheduled_transaction', {
      decides: { id: idOf(['get_scheduled_transactions.id']), recipient: 'any' },
    }),
  },
};

/** The cost of trusting all files: the user's and those of others. */
export const trustingRules: SuiteRules = {
  ...correctedRules,
  trusted: {
    ...correctedRules.trusted,
    ...Object.fromEntries(
      ['read_file', 'search_files_by_filename', 'search_files', 'get_file_by_id', 'list_files'].map((name) => [
        name,
        ['*'],
      ]),
    ),
  },
};

function idField(tool: string): string {
  return `${tool}.id_`;
}

function revised(name: string, rules: DecidingOptions): SuiteRules['tools'] {
  return { [name]: { ...firstRules.tools[name], ...rules } };
}

function idOf(from: readonly string[]): NonNullable<DecidingOptions['decides']>[string] {
  return { kind: 'id', from };
}
