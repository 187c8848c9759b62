"""Word lists of the tools that are put together from a verb and a noun."""

# verb -> other words for it. A description may use another word; a request uses the verb or the word of the description.
VERBS = {
    'get': 'fetch retrieve load'.split(),
    'find': 'search locate seek'.split(),
    'list': 'show enumerate display'.split(),
    'create': 'make add build'.split(),
    'delete': 'remove erase drop'.split(),
    'update': 'change edit modify'.split(),
    'send': 'deliver dispatch transmit'.split(),
    'read': 'open view inspect'.split(),
    'write': 'save store record'.split(),
    'cancel': 'abort revoke void'.split(),
    'book': 'reserve arrange'.split(),
    'count': 'tally'.split(),
    'convert': 'transform turn'.split(),
    'translate': 'interpret'.split(),
    'schedule': 'plan'.split(),
    'start': 'launch begin run'.split(),
    'stop': 'halt end pause'.split(),
    'approve': 'accept confirm'.split(),
    'reject': 'deny refuse decline'.split(),
    'share': 'publish post'.split(),
    'copy': 'duplicate clone'.split(),
    'move': 'transfer shift'.split(),
    'rename': 'relabel'.split(),
    'upload': 'push'.split(),
    'download': 'pull'.split(),
    'lock': 'freeze block'.split(),
    'unlock': 'release'.split(),
    'order': 'buy purchase'.split(),
    'pay': 'settle'.split(),
    'refund': 'reimburse'.split(),
    'compute': 'calculate work'.split(),
    'compare': 'match'.split(),
    'merge': 'combine join'.split(),
    'split': 'divide'.split(),
    'sort': 'rank'.split(),
    'filter': 'narrow'.split(),
    'print': 'output'.split(),
    'scan': 'examine'.split(),
    'check': 'verify validate test'.split(),
    'install': 'deploy'.split(),
    'restore': 'recover'.split(),
    'archive': 'shelve'.split(),
    'assign': 'give allocate'.split(),
    'invite': 'ask'.split(),
    'notify': 'alert warn'.split(),
    'subscribe': 'register enrol'.split(),
    'measure': 'gauge'.split(),
    'play': 'stream'.split(),
    'mute': 'silence'.split(),
    'tag': 'label mark'.split(),
    'draw': 'paint sketch'.split(),
    'clean': 'wash tidy'.split(),
    'rotate': 'spin'.split(),
    'resize': 'scale'.split(),
    'encrypt': 'cipher'.split(),
    'export': 'dump'.split(),
    'import': 'ingest'.split(),
    'reset': 'clear'.split(),
    'summarize': 'condense'.split(),
    'explain': 'describe'.split(),
    'estimate': 'guess'.split(),
    'track': 'follow trace'.split(),
    'charge': 'bill'.split(),
    'close': 'shut'.split(),
}
READING = set('''
check compare compute count estimate explain find get list measure read summarize track'''.split())
# A word may stand twice: it is then drawn twice as often.
NOUNS = '''
weather invoice user file report ticket order message calendar meeting event task note photo image video song
album playlist room hotel flight train ticket car bike route map address contact customer account password token
session device sensor lamp door window alarm timer clock printer server database table column row record backup
branch commit issue review package image container cluster job queue worker pipeline build release license
payment price discount coupon cart product stock warehouse shipment parcel letter email chat channel thread
comment reply survey form answer question quiz lesson course student teacher grade class school book page
chapter article story poem recipe meal menu table drink plant garden tree animal pet doctor patient appointment
prescription bill loan balance budget tax salary contract policy claim vote poll member team project sprint
milestone goal habit workout score game player match league tournament planet star rocket engine wheel battery
cable camera drone robot oven fridge heater fan blind water energy meter signal network router firewall domain
certificate key secret vault cookie cache log metric dashboard chart graph formula sum average distance currency
language word sentence dictionary font color theme layout icon banner slide document folder archive disk volume'''.split()
# Never in training.
HELD_OUT_NOUNS = '''
glacier violin harbor tractor passport orchard lantern compass bakery fountain museum saddle anchor helmet
ladder magnet pillow quarry ribbon tunnel volcano walnut zipper canyon dolphin ferry gallery hammer island
jacket kettle lemon mirror napkin oyster parade rabbit scarf temple umbrella'''.split()
ADJECTIVES = '''
daily weekly monthly local remote public private old new open pending active recent shared main blue green small
large fast hidden final'''.split()
PREFIXES = '''
crm shop home bank team admin web lab git mail'''.split()
CITIES = '''
Prague Oslo Berlin Lima Paris Rome Quito Delhi Tokyo Cairo Turin Basel Porto Lyon Accra Madrid Vienna Dublin
Seoul Boston'''.split()
PEOPLE = '''
Ana Bob Carla Dan Eva Finn Gus Hana Ivan Jo Kim Leo Mia Ned Olga Paul Rita Sam Tom Uma Vera Will Zoe'''.split()
FILLER = '''
the we are late today lunch is ready please call me back new plan for team at noon see you soon budget draft
good work thanks all done not yet two more days blue sky'''.split()

# kind of value -> names of parameters in training, and names that only held-out cases have
PARAMETERS = {
    'name': (
        'name user owner person customer author city place team label recipient member country '
        'assignee project topic sender host region group'.split(),
        'artist village pilot'.split()),
    'path': ('path file filename target source folder document input output'.split(), 'attachment script'.split()),
    'text': (
        'text body message note content title comment query subject reason phrase caption'.split(),
        'headline summary'.split()),
    'date': ('date day start due deadline until since when'.split(), 'birthday expiry'.split()),
    'id': ('id ref code ticket order key serial case'.split(), 'voucher barcode'.split()),
    'email': ('email address contact mail'.split(), 'mailbox'.split()),
    'url': ('url link site endpoint'.split(), 'webpage'.split()),
    'int': (
        'count limit minutes days amount level port quantity seconds page width height age year '
        'rows hours seats'.split(),
        'floors passengers calories'.split()),
    'num': ('price ratio weight rate temperature factor distance score budget speed'.split(), 'voltage humidity'.split()),
    'bool': ('force recursive verbose urgent public draft silent notify hidden compact'.split(), 'sticky anonymous'.split()),
    'enum': ('mode format priority color status unit kind type language direction style'.split(), 'flavor season'.split()),
}
JSON_TYPE = {'int': 'integer', 'num': 'number', 'bool': 'boolean'}  # all others are strings
# kind of value -> how often a parameter is of it
KIND_WEIGHTS = {
    'name': 22, 'path': 10, 'text': 14, 'date': 8, 'id': 9, 'email': 5, 'url': 4, 'int': 17, 'num': 7, 'bool': 7, 'enum': 11,
}
ENUMS = [
    'low|medium|high', 'red|green|blue', 'json|csv|xml', 'fast|slow', 'asc|desc', 'open|closed',
    'north|south|east|west', 'en|fr|de|es', 'metric|imperial', 'small|medium|large', 'draft|final',
    'day|week|month', 'dark|light', 'pdf|html|text', 'left|right', 'new|used',
]
ERRORS = [
    'denied', 'not found', 'timed out', 'invalid input', 'rate limit', 'no access', 'server busy', 'locked',
    'quota exceeded', 'offline', 'already exists', 'expired',
]
# As programs word them; {word} is one that is made up, {noun} an ordinary one, {number} a number.
ERROR_FORMS = [
    'Denied: `{word}` has not been read: read it first, then retry', 'Denied: nobody has approved this call',
    'Denied: `{word}` may be called after `{noun}` only', 'Denied: {noun} {word} is not yours',
    'Denied: at most {number} calls a run', 'there is no {noun} `{word}`', 'no {noun} of the name {word} was found',
    'the {noun} {word} exists already', '`{word}` must be a number from 1 to {number}, got {noun}',
    '`{word}` is missing', 'expected {noun} or {word}, got `{number}`', 'the server of {word} answered {number}',
    'The tool did not answer within {number} seconds', 'cannot open {word}: permission denied',
    'the {noun} is full: {number} of {number}', '{word} is in use by another {noun}', 'unknown {noun} {number}',
    'Invalid arguments: `{word}` is not declared', 'the {noun} "{word}" was closed on day {number}',
    'Too many requests: try again in {number} seconds',
]
RESULT_KEYS = '''
status id count total value price date state result size rating owner url code balance level'''.split()
# Pieces of English-like words.
FRAGMENTS = '''
bra cho dri ell fen gro hux ist jok kli mon nex op pra qui ros shu tri und vex wol xan yor zeb ack ble cre dge
eft ful ght ing ump erk ost ail oon ief ard ulk asp ent ich oth ave ike ome ute ine age ure ist ous ant ell ock
ash ump amp ind eam oat eel awn ew ay scr spl thr wh ph str sk sm sn sw tw'''.split()
CONSONANTS, VOWELS = 'bcdfghjklmnprstvwz', 'aeiou'
