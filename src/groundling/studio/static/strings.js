// All texts of the user interface and of the built-in worlds, in English and German.

const TABLE = {
  // the frame
  talk: ["Talk", "Sprechen"],
  examples: ["Examples", "Beispiele"],
  model: ["Model", "Modell"],
  worlds: ["Worlds", "Welten"],
  lesson: ["Lesson", "Unterricht"],
  class: ["Class", "Klasse"],
  language: ["Deutsch", "English"],
  theme: ["Switch between light and dark", "Zwischen hell und dunkel wechseln"],
  present: ["Present", "Präsentieren"],
  close: ["Close", "Schließen"],
  broken: ["This page cannot be opened", "Diese Seite lässt sich nicht öffnen"],
  // the conversation
  heading: ["Teach this robot your words.", "Bring diesem Roboter deine Wörter bei."],
  scene: ["Scene", "Szene"],
  restart: ["Start over", "Von vorn"],
  world: ["World", "Welt"],
  conversation: ["Conversation", "Gespräch"],
  say: ["Say what to do", "Sag, was zu tun ist"],
  send: ["Say it", "Sagen"],
  placeholder: ["Try: {0}", "Etwa: {0}"],
  placeholderEmpty: ["In any language", "In jeder Sprache"],
  empty: ["Hello! I don’t know any words yet. Say something, then show me what you mean.", "Hallo! Ich kenne noch keine Wörter. Sag etwas und zeig mir dann, was du meinst."],
  knows: ["Hello! Try one of these, or say something else and show me what you mean.", "Hallo! Probier eines davon, oder sag etwas anderes und zeig mir, was du meinst."],
  first: ["One moment, I am learning my first words …", "Einen Moment, ich lerne meine ersten Wörter …"],
  knowsSome: ["Hello! Say what I should do. If I get it wrong, show me what you mean.", "Hallo! Sag, was ich tun soll. Wenn es falsch ist, zeig mir, was du meinst."],
  noWords: ["Type a request first, in your own words.", "Gib zuerst einen Auftrag ein, in deinen Worten."],
  you: ["You", "Du"],
  robot: ["Robot", "Roboter"],
  done: ["Done: {0}", "Gemacht: {0}"],
  nothing: ["nothing", "nichts"],
  thinking: ["One moment …", "Einen Moment …"],
  unknown: ["I don’t know these words yet. Show me what you mean.", "Diese Wörter kenne ich noch nicht. Zeig mir, was du meinst."],
  yes: ["Yes, that’s right", "Ja, richtig"],
  no: ["No, like this …", "Nein, so …"],
  why: ["Why?", "Warum?"],
  seeStep: ["Show this step in the picture", "Diesen Schritt im Bild zeigen"],
  replay: ["Replay", "Erneut abspielen"],
  undo: ["Undo", "Rückgängig"],
  undoLast: ["Undo {0}", "Rückgängig: {0}"],
  teaching: ["teaching {0}", "Beibringen von {0}"],
  editing: ["editing {0}", "Ändern von {0}"],
  deleting: ["deleting {0}", "Löschen von {0}"],
  importing: ["importing {0} demonstrations", "Importieren von {0} Beispielen"],
  details: ["Details", "Details"],
  look: ["Preview: {0}", "Vorschau: {0}"],
  none: ["None of these: I’ll show you", "Nichts davon: ich zeige es dir"],
  preview: ["Preview", "Vorschau"],
  showIt: ["Show what you mean", "Zeigen, was du meinst"],
  showTitle: ["Show what “{0}” means", "Zeig, was „{0}“ bedeutet"],
  showHow: ["Click in the picture, or choose:", "Klick ins Bild oder wähle:"],
  showElsewhere: ["If it is not possible here, press “Start over” or choose another scene.", "Wenn es hier nicht möglich ist, drück „Von vorn“ oder wähle eine andere Szene."],
  nothingThere: ["Nothing can be done there now. Click a highlighted area.", "Dort geht gerade nichts. Klick auf eine markierte Fläche."],
  possible: ["Possible actions", "Mögliche Handlungen"],
  noMore: ["No further actions are possible here.", "Hier sind keine weiteren Handlungen möglich."],
  more: ["and {0} more; click in the picture", "und {0} weitere; klick ins Bild"],
  teach: ["Teach this", "Das beibringen"],
  removeLast: ["Remove last step", "Letzten Schritt entfernen"],
  cancel: ["Cancel", "Abbrechen"],
  learning: ["Learning …", "Lernt …"],
  taught: ["Thanks. I’ll remember: “{0}” means {1}.", "Danke. Ich merke mir: „{0}“ heißt {1}."],
  learnt: ["Learnt.", "Gelernt."],
  undone: ["Undone.", "Rückgängig gemacht."],
  confidence: ["{0} sure", "{0} sicher"],
  onlyAsk: ["This project is open in another process, so you cannot teach here.", "Dieses Projekt ist in einem anderen Programm geöffnet; hier lässt sich nichts beibringen."],
  oneBack: ["One step back", "Einen Schritt zurück"],
  oneOn: ["One step forward", "Einen Schritt vor"],
  start: ["start", "Anfang"],
  stepOf: ["{0} of {1}: {2}", "{0} von {1}: {2}"],
  listen: ["Speak", "Sprechen"],
  listenFailed: ["The browser could not recognise speech. Allow the microphone, or type instead.", "Der Browser konnte hier keine Sprache erkennen. Erlaube das Mikrofon oder tippe."],
  listenNote: ["Your browser converts speech to text and may send the recording to its vendor.", "Dein Browser wandelt Sprache in Text um und sendet die Aufnahme vielleicht an seinen Hersteller."],
  aloud: ["Read answers aloud", "Antworten vorlesen"],
  // what it can do
  can: ["What it can do now", "Was er jetzt kann"],
  canRecent: ["{0} of {1} recent requests understood", "{0} von {1} letzten Aufträgen verstanden"],
  canHeld: ["{0} of {1} test sentences right", "{0} von {1} Prüfsätzen richtig"],
  canTrained: ["trained on examples of this world", "mit Beispielen dieser Welt trainiert"],
  canNothing: ["Nothing taught yet.", "Noch nichts beigebracht."],
  // reasons
  because: ["I {0} because you said {1}.", "Ich {0}, weil du {1} gesagt hast."],
  needed: ["I {0} because other steps require it. The text does not mention it.", "Ich {0}, weil andere Schritte es erfordern. Im Text steht es nicht."],
  without: ["Without it I would have {0}.", "Ohne das {0}."],
  only: ["only {0}", "{0}, sonst nichts"],
  wouldNothing: ["done nothing", "hätte ich nichts gemacht"],
  youChose: ["You chose this one.", "Das hast du ausgewählt."],
  remembered: ["You showed me this: “{0}”.", "Das hast du mir gezeigt: „{0}“."],
  rememberedGiven: ["I have a built-in example of this: “{0}”.", "Dafür habe ich ein mitgegebenes Beispiel: „{0}“."],
  strange: ["Unknown words: {0}.", "Unbekannte Wörter: {0}."],
  quoted: ["“{0}”", "„{0}“"],
  and: [" and ", " und "],
  then: [", then ", ", dann "],
  // details
  detailsHow: ["Point at a word or an action, or select one with the keyboard. A thicker line means a higher probability.", "Zeig auf ein Wort oder eine Handlung, oder wähle mit der Tastatur. Dickere Linien sind wahrscheinlicher."],
  runnerUp: ["The second-best plan is “{0}”, with a score {1} lower.", "Auf Platz zwei: „{0}“, {1} zurück."],
  decided: ["Decisive features", "Entscheidende Merkmale"],
  liesOn: ["Aligned with ", "Zugeordnet zu "],
  liesOnNothing: ["Not aligned with anything in this graph.", "Hier nichts zugeordnet."],
  itsWeights: ["Its weights here", "Seine Gewichte hier"],
  fromText: ["Evidence from the text", "Was im Text dafür und dagegen spricht"],
  anyway: ["Independent of the text", "Unabhängig vom Text"],
  notMentioned: ["not mentioned in the text", "im Text nicht erwähnt"],
  goesWith: ["{0} fits {1}", "{0} passt zu {1}"],
  anyValue: ["any {0}", "Name ({0})"],
  sameValue: ["the named {0}", "das Genannte ({0})"],
  structure: ["sentence structure ({0})", "Satzbau ({0})"],
  dep: ["any word", "jedes Wort"], det: ["article", "Artikel"], case: ["preposition", "Präposition"], amod: ["adjective", "Adjektiv"],
  obj: ["object", "Objekt"], obl: ["phrase with a preposition", "Angabe mit Präposition"], nsubj: ["subject", "Subjekt"],
  advmod: ["adverb", "Adverb"], compound: ["compound", "Zusammensetzung"], conj: ["phrase after “and”", "zweiter Teil nach „und“"],
  sameThing: ["the same thing", "dasselbe"],
  nextStep: ["the next step", "der nächste Schritt"],
  previousStep: ["the previous step", "der vorige Schritt"],
  relation: ["things related by “{0}”", "was durch „{0}“ verbunden ist"],
  steps: ["{0} steps", "{0} Schritte"],
  // examples
  examplesTitle: ["Examples", "Beispiele"],
  examplesLead: ["All demonstrations: a text and its actions. Rows marked “Test only” are not used for training but for measuring accuracy.", "Alle Beispiele: ein Text und seine Handlungen. Zeilen mit „Nur Prüfung“ werden nicht gelernt. Sie messen die Genauigkeit."],
  search: ["Search", "Suchen"],
  count: ["{0} examples", "{0} Beispiele"],
  countOne: ["1 example", "1 Beispiel"],
  setAside: [", {0} set aside", ", {0} beiseitegelegt"],
  noneFound: ["No example contains this.", "Kein Beispiel enthält das."],
  noneYet: ["There are no examples yet. Say something on the page “Talk” and show what you mean.", "Es gibt noch keine Beispiele. Sag auf der Seite „Sprechen“ etwas und zeig, was du meinst."],
  import: ["Import", "Importieren"],
  export: ["Export", "Exportieren"],
  imported: ["{0} imported, {1} already existed.", "{0} importiert, {1} waren schon vorhanden."],
  refused: ["{0} rejected. Line {1}: {2}", "{0} abgelehnt. Zeile {1}: {2}"],
  said: ["Text", "Text"],
  did: ["Actions", "Handlungen"],
  firstTry: ["Before teaching", "Vor dem Lernen"],
  weight: ["Weight", "Gewicht"],
  weightOf: ["Weight of “{0}”", "Gewicht von „{0}“"],
  testOnly: ["Test only", "Nur Prüfung"],
  testOnlyOf: ["Use “{0}” for tests only", "„{0}“ nur zur Prüfung"],
  rightAtOnce: ["understood", "verstanden"],
  hadToBeTaught: ["not understood", "nicht verstanden"],
  given: ["built in", "mitgegeben"],
  importedOne: ["imported", "importiert"],
  text: ["Text", "Text"],
  redo: ["Show again", "Neu zeigen"],
  redoOf: ["Show again: {0}", "Neu zeigen: {0}"],
  remove: ["Delete", "Löschen"],
  removeOf: ["Delete: {0}", "Löschen: {0}"],
  removed: ["Deleted. Use “Undo” to restore it.", "Gelöscht. „Rückgängig“ stellt es wieder her."],
  showMore: ["Show more", "Mehr zeigen"],
  aside: ["Set aside: {0}", "Beiseitegelegt: {0}"],
  change: ["Change", "Ändern"],
  // the model
  modelLead: ["The model is a list of weights. Each weight says how well a word fits a property of the world.", "Das Modell ist eine Liste von Gewichten. Jedes sagt, wie gut ein Wort zu einer Eigenschaft der Welt passt."],
  wordsTitle: ["Words", "Wörter"],
  findWord: ["Find a word", "Ein Wort finden"],
  oneWord: ["What a word means", "Was ein Wort bedeutet"],
  wordHow: ["Bars to the right: it fits. Bars to the left: it does not fit.", "Balken nach rechts: es passt. Balken nach links: es passt nicht."],
  noWord: ["The model does not know this word.", "Das Modell kennt dieses Wort nicht."],
  nothingLearnt: ["There is no trained model yet. Teach the robot something first.", "Es gibt noch kein trainiertes Modell. Bring dem Roboter erst etwas bei."],
  modelFacts: ["{0} words, {1} weights.", "{0} Wörter, {1} Gewichte."],
  use: ["Use this model", "Dieses Modell benutzen"],
  useHow: ["Start the server, then send requests from any program. What you teach over HTTP is saved in this project.", "Starte den Server und sende Anfragen aus einem beliebigen Programm. Was du über HTTP beibringst, wird in diesem Projekt gespeichert."],
  copy: ["Copy", "Kopieren"],
  copied: ["Copied.", "Kopiert."],
  // worlds
  gallery: ["Gallery", "Galerie"],
  galleryHow: ["Opening a world starts a new project with its own robot. What you teach is saved under “Your projects”.", "Öffnen beginnt ein neues Projekt mit einem eigenen Roboter. Was du beibringst, wird unter „Deine Projekte“ gespeichert."],
  open: ["Open", "Öffnen"],
  openOf: ["Open: {0}", "Öffnen: {0}"],
  opened: ["Your projects", "Deine Projekte"],
  editor: ["Create a world", "Eine Welt erstellen"],
  editorHow: ["Add places, things and robots. The picture changes as you type.", "Füge Orte, Dinge und Roboter hinzu. Das Bild ändert sich beim Tippen."],
  title: ["Title", "Titel"],
  places: ["Places", "Orte"],
  things: ["Things", "Dinge"],
  movers: ["Robots", "Roboter"],
  name: ["Name", "Name"],
  column: ["Column", "Spalte"],
  row: ["Row", "Zeile"],
  colour: ["Colour", "Farbe"],
  at: ["Place", "Ort"],
  canDo: ["Allow:", "Erlauben:"],
  verbs: ["What robots can do", "Was Roboter tun können"],
  add: ["Add", "Hinzufügen"],
  addOf: ["Add: {0}", "Hinzufügen: {0}"],
  removeRow: ["Remove {0}", "{0} entfernen"],
  save: ["Teach a robot here", "Hier einen Roboter unterrichten"],
  download: ["Save as a file", "Als Datei sichern"],
  load: ["Edit a file", "Datei bearbeiten"],
  openFile: ["Open a file", "Datei öffnen"],
  openFileHow: ["Opens a robot that was taken home or exported, or a saved world.", "Öffnet einen mitgenommenen oder exportierten Roboter oder eine gesicherte Welt."],
  notJson: ["This file is not a world. Choose a JSON file written by “Save as a file”.", "Diese Datei ist keine Welt: Sie muss JSON sein, wie es „Als Datei sichern“ schreibt."],
  newPlace: ["place", "Ort"], newThing: ["thing", "Ding"], newMover: ["robot", "Roboter"],
  wrongTitle: ["Give the world a title.", "Gib der Welt einen Titel."],
  wrongNoName: ["{0}: number {1} has no name yet.", "{0}: Nummer {1} hat noch keinen Namen."],
  wrongColon: ["A name cannot contain a colon: “{0}”.", "Ein Name darf keinen Doppelpunkt enthalten: „{0}“."],
  wrongTwice: ["{0}: two entries are named “{1}”. Rename one of them.", "{0}: Zwei heißen „{1}“. Gib einem davon einen anderen Namen."],
  wrongNoPlaces: ["Add at least one place.", "Füge mindestens einen Ort hinzu."],
  wrongNoMovers: ["Add at least one robot.", "Füge mindestens einen Roboter hinzu."],
  wrongCell: ["“{0}” and “{1}” are both in column {2}, row {3}. Move one of them.", "„{0}“ und „{1}“ liegen beide in Spalte {2}, Zeile {3}. Verschiebe einen davon."],
  wrongNowhere: ["Choose a place for “{0}”.", "Wähle einen Ort für „{0}“."],
  go: ["go", "gehen"], take: ["take", "nehmen"], put: ["put", "ablegen"], push: ["push", "schieben"],
  switch: ["switch", "schalten"],
  openVerb: ["open", "öffnen"],
  // the lesson
  lessonTitle: ["Teach a robot your language", "Bring einem Roboter deine Sprache bei"],
  lessonLead: ["This robot does not know any words. Teach it ten requests, in any language. Then say them again.", "Dieser Roboter kennt gar keine Wörter. Bring ihm zehn Aufträge bei, in einer beliebigen Sprache. Dann sag sie noch einmal."],
  lessonOne: ["1. Say something", "1. Sag etwas"],
  lessonTwo: ["2. Show what you mean", "2. Zeig, was du meinst"],
  lessonThree: ["3. Say it again", "3. Sag es noch einmal"],
  lessonOneHow: ["Type a request for this kitchen in your own words, such as “fetch the blue cup”.", "Schreib einen Auftrag für diese Küche in deinen Worten, etwa „hol die blaue Tasse“."],
  lessonTwoHow: ["Click in the picture where the robot should go and what it should take. Then press “Teach this”.", "Klick im Bild, wohin er gehen und was er nehmen soll. Dann drück „Das beibringen“."],
  lessonThreeHow: ["It remembers. Try it in the next kitchen, and press “Why?”.", "Er erinnert sich. Versuch es in der nächsten Küche und drück „Warum?“."],
  lessonCount: ["{0} of 10 requests shown", "{0} von 10 Aufträgen gezeigt"],
  lessonDone: ["Now say them again: {0} of your last {1} are understood.", "Sag sie jetzt noch einmal: {0} deiner letzten {1} werden verstanden."],
  again: ["Begin again", "Neu anfangen"],
  nextScene: ["Next kitchen", "Nächste Küche"],
  // the class
  classTitle: ["Class", "Klasse"],
  classOff: ["Stop the studio in its terminal (Ctrl-C) and start it with this command. A new page opens in the browser; use the new page and close this one.", "Beende das Studio in seinem Terminal (Strg-C) und starte es mit diesem Befehl. Im Browser öffnet sich eine neue Seite: Benutze sie und schließe diese."],
  restarted: ["The studio was restarted. Close this page. Use the page that the studio opened, or the address that it printed in the terminal.", "Das Studio wurde neu gestartet. Benutze die Seite, die es geöffnet hat, oder die Adresse im Terminal, und schließe diese Seite."],
  classNet: ["Pupils must be on the same local network. No data leaves it.", "Alle müssen im selben lokalen Netz sein. Keine Daten verlassen es."],
  classAbout: ["In a class, each pupil gets an untrained robot on their own device, and this page shows all robots side by side.", "In einer Klasse bekommt jedes Kind einen leeren Roboter auf dem eigenen Gerät, und diese Seite zeigt alle nebeneinander."],
  classJoin: ["Open this address and enter your name:", "Öffne diese Adresse und schreib deinen Namen:"],
  classNobody: ["Nobody has joined yet.", "Noch ist niemand dabei."],
  classKnown: ["{0} taught", "{0} beigebracht"],
  classUnderstood: ["{0} of the last {1} understood", "{0} der letzten {1} verstanden"],
  joinTitle: ["Join the class", "Bei der Klasse mitmachen"],
  joinName: ["Your name", "Dein Name"],
  join: ["Join", "Mitmachen"],
  takeHome: ["Take home", "Mit nach Hause nehmen"],
  takeHomeHow: ["This file contains your world, your name and all your examples. At home, run: groundling studio {0}", "Diese Datei enthält deine Welt, deinen Namen und alle deine Beispiele. Zu Hause: groundling studio {0}"],
  robotOf: ["{0}’s robot", "Roboter von {0}"],
};

// Names of the built-in worlds, and their gallery texts.
const TITLES = {
  Kitchen: "Küche", "Empty kitchen": "Leere Küche", Home: "Wohnung", Warehouse: "Lager", Maze: "Labyrinth", Map: "Karte",
  Puzzle: "Rätsel", "My world": "Meine Welt",
};
const ABOUT = {
  kitchen: "Ein Roboter mit Tassen und Schüsseln; er kennt ein paar Aufträge.",
  "empty-kitchen": "Dieselbe Küche; ihr Roboter kennt noch keine Wörter.",
  home: "Eine Wohnung mit Lampen, Türen und Dingen zum Tragen.",
  warehouse: "Ein Gabelstapler mit Kisten zum Schieben und Paketen zum Tragen.",
  maze: "Gänge mit farbigen Böden; Wege in mehreren Sätzen.",
  babyai: "Räume mit Schlüsseln, Bällen, Kisten und Türen.",
  map: "Eine Karte mit Orten, die nacheinander besucht werden.",
  puzzle: "Blöcke, die Zeile für Zeile entfernt werden, mit Hinweisen zu mehreren Zeilen.",
};
// Nouns of the built-in worlds with their genders; the adjective before them is in COLOURS.
const NOUNS = {
  table: "der Tisch", sink: "die Spüle", shelf: "das Regal", cup: "die Tasse", bowl: "die Schüssel", robot: "der Roboter",
  kitchen: "die Küche", hall: "der Flur", "living room": "das Wohnzimmer", bedroom: "das Schlafzimmer", bathroom: "das Bad",
  "ceiling light": "die Deckenlampe", "floor lamp": "die Stehlampe", "bedside lamp": "die Nachttischlampe", window: "das Fenster",
  "front door": "die Haustür", book: "das Buch", towel: "das Handtuch", dock: "die Rampe", "shelf A": "das Regal A",
  "shelf B": "das Regal B", "packing table": "der Packtisch", charger: "die Ladestation", crate: "die Kiste", parcel: "das Paket",
  gate: "das Tor", forklift: "der Gabelstapler", garden: "der Garten", house: "das Haus", ball: "der Ball", lamp: "die Lampe", door: "die Tür",
};
const COLOURS = {
  red: "rot", blue: "blau", green: "grün", yellow: "gelb", orange: "orange", purple: "lila", pink: "rosa", brown: "braun",
  black: "schwarz", white: "weiß", grey: "grau",
};
const CONDITIONS = { on: "an", off: "aus", open: "offen", closed: "geschlossen" };

// German translations of the server's messages and of words in them; {0} stands for any text.
const PROBLEMS = [
  ["The server does not answer. Start it again; what was taught is kept.", "Der Server antwortet nicht. Starte ihn neu; was beigebracht wurde, bleibt erhalten."],
  ["The server answered {0}.", "Der Server hat mit {0} geantwortet."],
  ["The text must contain at least one word. Enter an instruction.", "Der Text braucht Wörter. Sag, was zu tun ist."],
  ["The text must be valid Unicode; got an unpaired surrogate. Type it again.", "Der Text enthält ein ungültiges Zeichen. Gib ihn noch einmal ein."],
  ["A demonstration must have at least one action; got none. Add an action.", "Ein Beispiel braucht mindestens eine Handlung. Zeig, was zu tun ist."],
  ["{0} must have at most {1} {2}; got {3}. {4}", "{0} darf höchstens {1} {2} haben, nicht {3}. {4}"],
  ["Set {0} to raise the limit.", "Die Grenze lässt sich mit {0} erhöhen."],
  ["Shorten the text, or set {0} to raise the limit.", "Kürze den Text, oder erhöhe die Grenze mit {0}."],
  ["{0} must be a folder; got a link. Delete the link.", "{0} muss ein Ordner sein, keine Verknüpfung. Lösche die Verknüpfung."],
  ["{0} must be a folder; got a {1}. Delete the {2}.", "{0} muss ein Ordner sein, keine {1}. Lösche die {2}."],
  ["The format of the project in {0} must be {1} or older; got {2}. It was created by a newer version of Groundling. Install that version to open it.", "Das Projekt in {0} hat das Format {2}; lesbar ist höchstens {1}. Eine neuere Version von Groundling hat es angelegt. Installiere sie, um es zu öffnen."],
  ["The project in {0} was moved or deleted while it was open, so nothing was changed. Restart the studio, and open it where it is now.", "Das Projekt in {0} wurde verschoben oder gelöscht, während es offen war; deshalb wurde nichts geändert. Starte das Studio neu, und öffne das Projekt dort, wo es jetzt liegt."],
  ["{0} is not a valid name for a folder. Choose another name.", "{0} kann kein Ordnername sein. Wähle einen anderen."],
  ["There is no trained model yet. Add a demonstration first.", "Es gibt noch kein Modell. Bring zuerst etwas bei."],
  ["There is no change to undo.", "Es gibt nichts rückgängig zu machen."],
  ["There is no demonstration {0}; it may have been deleted. Reload the page.", "Das Beispiel {0} gibt es nicht mehr. Lade die Seite neu."],
  ["There is no scene {0}.{1}", "Die Szene {0} gibt es nicht.{1}"],
  ["There is no saved model for revision {0}. Only the last {1} are kept. Choose a later revision.", "Zum Stand {0} gibt es kein Modell mehr; nur die letzten {1} bleiben erhalten. Wähle einen späteren Stand."],
  ["The project in {0} is open in another process, so it is read-only here. Close the other process to teach here.", "Das Projekt in {0} ist in einem anderen Programm geöffnet und kann hier nur gelesen werden. Schließe das andere Programm, um hier zu unterrichten."],
  ["The weight must be between 0 and {0}; got {1}. Enter another weight.", "Das Gewicht muss zwischen 0 und {0} liegen, nicht {1}. Gib ein anderes ein."],
  ["{0} Delete this demonstration and teach it again.", "{0} Lösche dieses Beispiel und bring es neu bei."],
  ["“{0}” cannot be stored: {1}. Change the text or the actions.", "„{0}“ lässt sich nicht speichern: {1}. Ändere den Text oder die Handlungen."],
  ["“{0}” cannot be carried out: {1}: {2}. Correct the actions, or the world.", "„{0}“ lässt sich nicht ausführen: {1}: {2}. Berichtige die Handlungen oder die Welt."],
  ["{0}: action {1}, {2}, is impossible in state {3}. {4}Possible there: {5}.", "{0}: Handlung {1}, {2}, geht in diesem Zustand nicht. {4}Möglich ist dort: {5}."],
  ["This response could not be saved. {0}", "Diese Antwort konnte nicht gespeichert werden. {0}"],
  ["The disk is full (No space left on device), so the model could not be saved. It is in use, and demonstrations are saved. Free some disk space; the next model will be saved.", "Die Platte ist voll; das Modell konnte nicht gespeichert werden. Es wird trotzdem benutzt, und die Beispiele sind gespeichert. Schaffe Platz; das nächste Modell wird gespeichert."],
  ["The model could not be saved: {0}. Demonstrations are saved.", "Das Modell konnte nicht gespeichert werden: {0}. Die Beispiele sind gespeichert."],
  ["Training failed: {0}: {1}. Demonstrations are saved.", "Das Lernen ist gescheitert: {0}: {1}. Die Beispiele sind gespeichert."],
  ["Training on this demonstration failed: {0}: {1}.", "Das Lernen dieses Beispiels ist gescheitert: {0}: {1}."],
  ["The project in {0} cannot be saved: {1}. Free some disk space, or choose another folder with --project.", "Das Projekt in {0} lässt sich nicht speichern: {1}. Schaffe Platz, oder wähle mit --project einen anderen Ordner."],
  ["The project in {0} cannot be used: “{1}”. {2}", "Das Projekt in {0} lässt sich nicht benutzen: „{1}“. {2}"],
  ["The file project.sqlite in {0} is damaged: {1}. Restore a backup.", "Die Datei project.sqlite in {0} ist beschädigt: {1}. Stelle eine Sicherung wieder her."],
  ["This server has no project with this name. Choose one on the start page.", "Dieses Projekt gibt es hier nicht. Wähle eines auf der Seite „Welten“."],
  ["The server has reached its limit of {0} open projects. Restart it to open others.", "Es sind schon {0} Projekte geöffnet. Starte den Server neu, um andere zu öffnen."],
  ["The project has reached its limit of {0} open pages. Close some of them.", "Das Projekt ist schon auf {0} Seiten geöffnet. Schließe einige."],
  ["The world must be from the gallery or the editor. Choose one on the start page.", "Die Welt muss aus der Galerie oder dem Editor sein. Wähle eine auf der Seite „Welten“."],
  ["The gallery has no world {0}.{1}", "Die Galerie hat keine Welt {0}.{1}"],
  [" Did you mean {0}?", " Ist {0} gemeint?"],
  ["The world in the file must be from the gallery or the editor. Choose another file.", "Die Datei braucht eine Welt aus der Galerie oder dem Editor. Wähle eine andere Datei."],
  ["The file must contain at least one demonstration; got none. Choose a JSON Lines file from Export.", "Die Datei enthält keine Beispiele. Wähle eine Datei, die „Exportieren“ geschrieben hat."],
  ["This file must start with the world that its examples belong to. If it is from an older version, open its world, and import the file on the Examples page.", "Am Anfang der Datei muss die Welt ihrer Beispiele stehen. Ist sie von einer älteren Version, öffne ihre Welt und importiere die Datei auf der Seite „Beispiele“."],
  ["This file belongs to the world “{0}”, and this project is the world “{1}”. Nothing was imported. The file contains its own world: open it with “Open a file” on the Worlds page.", "Diese Datei gehört zur Welt „{0}“, dieses Projekt zur Welt „{1}“. Nichts wurde importiert. Die Datei bringt ihre Welt mit: Öffne sie mit „Datei öffnen“ auf der Seite „Welten“."],
  ["Line {0}: {1} Nothing was imported, because no example in this file fits the world “{2}”. If the examples are from another world, open that world first, and import the file there.", "Zeile {0}: {1} Nichts wurde importiert, denn kein Beispiel der Datei passt zur Welt „{2}“. Sind die Beispiele aus einer anderen Welt, öffne zuerst diese und importiere sie dort."],
  ["The record cannot be read: {0}: {1}. Correct or remove the line.", "Der Eintrag ist nicht lesbar: {0}: {1}. Berichtige oder lösche die Zeile."],
  ["No class is running. Start one: groundling studio --class", "Es läuft keine Klasse. Starte eine mit: groundling studio --class"],
  ["Too many wrong class codes were tried. Restart the class.", "Es wurden zu viele falsche Adressen versucht. Starte die Klasse neu."],
  ["The class code in this address is wrong.", "Diese Adresse der Klasse ist falsch."],
  ["Too many requests are waiting. Try again in a moment.", "Gerade warten zu viele Anfragen. Versuch es gleich noch einmal."],
  ["The request took longer than {0} seconds. Send a shorter text.", "Die Anfrage hat länger als {0} Sekunden gedauert. Schick einen kürzeren Text."],
  ["Receiving the request timed out. Send it again.", "Die Anfrage kam nicht vollständig an. Schick sie noch einmal."],
  ["{0}: internal error; nothing was changed.", "Innerer Fehler ({0}); nichts wurde geändert."],
  ["The body must be JSON: {0}, at byte {1}.", "Die Anfrage ist kein JSON: {0}, bei Byte {1}."],
  ["{0}: Input should be {1}.", "{0}: Diese Eingabe geht nicht (verlangt ist: {1})."],
  ["A world must be a JSON object; got {0}.", "Eine Welt muss ein JSON-Objekt sein, nicht {0}."],
  ["A world has no key {0}.{1}", "Eine Welt hat kein Feld {0}.{1}"],
  ["Names of `{0}` must be unique; got {1} twice. Rename one of them.", "Namen in „{0}“ dürfen nur einmal vorkommen; {1} steht zweimal da. Benenne eines um."],
  ["Action names must be unique; got {0} twice. Rename a place or a thing.", "Handlungen dürfen nicht gleich heißen; {0} steht zweimal da. Benenne einen Ort oder ein Ding um."],
  ["`at` of {0} must be the name of a place; got {1}.{2}", "Der Ort von {0} muss der Name eines Ortes sein, nicht {1}.{2}"],
  ["`is` of {0} must be {1}; got {2}.", "Der Zustand von {0} muss {1} sein, nicht {2}."],
  ["Each place must have a cell of its own; {0} and {1} share column {2}, row {3}. Move one of them.", "Jeder Ort braucht ein eigenes Feld; {0} und {1} liegen beide in Spalte {2}, Zeile {3}. Verschiebe einen davon."],
  ["{0} must be a list of two numbers; got {1}.", "{0} muss aus zwei Zahlen bestehen, nicht {1}."],
  ["{0} must be a string of 1 to {1} characters without a colon; got {2}.", "{0} muss ein Name aus 1 bis {1} Zeichen ohne Doppelpunkt sein, nicht {2}."],
  ["{0} must be a whole number from {1} to {2}; got {3}.", "{0} muss eine ganze Zahl von {1} bis {2} sein, nicht {3}."],
  ["`{0}` must have {1} to {2} entries; got {3}.", "„{0}“ muss {1} bis {2} Einträge haben, nicht {3}."],
  ["`{0}` must be a list; got {1}.", "„{0}“ muss eine Liste sein, nicht {1}."],
  ["{0} must be a list; got {1}.", "{0} muss eine Liste sein, nicht {1}."],
  ["{0} must contain only {1}; got {2}.{3}", "{0} darf nur {1} enthalten, nicht {2}.{3}"],
  ["Each entry of `{0}` must be a JSON object; got {1}.", "Jeder Eintrag von „{0}“ muss ein JSON-Objekt sein, nicht {1}."],
  ["{0} must have at most {1} properties; got {2}.", "{0} darf höchstens {1} Eigenschaften haben, nicht {2}."],
  ["`{0}` of {1} must be a number or a string of at most {2} characters; got {3}.", "„{0}“ von {1} muss eine Zahl oder ein Text von höchstens {2} Zeichen sein, nicht {3}."],
  ["`examples` must be a list of at most {0} entries; got {1}.", "„examples“ muss eine Liste mit höchstens {0} Einträgen sein, nicht {1}."],
  ["A state of {0} must give each mover a place, and each thing a condition and a place or holder; got {1}.", "Ein Zustand von {0} braucht für jeden Roboter einen Ort und für jedes Ding einen Zustand und einen Ort oder Träger, nicht {1}."],
  ["Example {0} must be a JSON object; got {1}.", "Beispiel {0} muss ein JSON-Objekt sein, nicht {1}."],
  ["`text` {0} must have at least one word; got {1}.", "Der Text {0} braucht mindestens ein Wort, nicht {1}."],
  ["`actions` {0} must be a list; got {1}.", "Die Handlungen {0} müssen eine Liste sein, nicht {1}."],
  ["`actions` {0} must be possible in this order; {1} is impossible in its place. Correct the actions, or the scene.", "Die Handlungen {0} müssen in dieser Reihenfolge möglich sein; {1} ist es nicht. Berichtige die Handlungen oder die Szene."],
];
const WORDS = {
  link: "Verknüpfung", file: "Datei", "A text": "Ein Text", "A demonstration": "Ein Beispiel", "The request": "Die Anfrage", "An import": "Ein Import", characters: "Zeichen",
  sentences: "Sätze", actions: "Handlungen", bytes: "Bytes", records: "Einträge", more: "mehr",
};

let column = 0;

/** Set the language: the stored choice, or else the browser's language. */
export function chooseLanguage() {
  let kept = null;
  try { kept = localStorage.getItem("language"); } catch { /* storage may be disabled in private windows */ }
  column = (kept ?? navigator.language ?? "en").startsWith("de") ? 1 : 0;
  document.documentElement.lang = column ? "de" : "en";
}

/** Switch between English and German, and store the choice. */
export function otherLanguage() {
  try { localStorage.setItem("language", column ? "en" : "de"); } catch { column = 1 - column; return; }
  chooseLanguage();
}

/** Return the text of a key with its placeholders filled in. */
export const t = (name, ...values) => (TABLE[name]?.[column] ?? name).replace(/\{(\d)\}/g, (_, place) => values[Number(place)] ?? "");
/** Return a sentence of the server in the language of the page. */
export function sentence(text) {
  if (!column || !text) return text;
  for (const [english, german] of PROBLEMS) {
    const form = english.split(/\{\d\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("(.*)");
    const found = text.match(new RegExp(`^${form}$`, "su"));
    if (found) return german.replace(/\{(\d)\}/g, (_, place) => sentence(found[Number(place) + 1]));
  }
  return WORDS[text] ?? text.replace(/['“]([^'”]+)['”]/g, (_, name) => t("quoted", actionName(name)));
}
/** Return the label of an undo button for the server's description of a change. */
export const undoLabel = (what) => {
  const [, kind, text, number] = (what ?? "").match(/^(teaching|editing|deleting|importing) (?:“(.*)”|(\d+).*)$/su) ?? [];
  return t("undoLast", kind ? t(kind, number ?? t("quoted", text)) : what ?? "");
};
/** Return a colour in the language of the page. */
export const colourName = (name) => (column && COLOURS[name]) || name;

/** Return a title or scene of a built-in world in the language of the page: *Küche 2*. */
export const titled = (name) => {
  const [, title, number] = (name ?? "").match(/^(.*?)( \d+)?$/su);
  return column && Object.hasOwn(TITLES, title) ? TITLES[title] + (number ?? "") : name;
};

/** Return the description of a gallery world. */
export const galleryText = ({ name, about }) => (column && ABOUT[name]) || about;

/** Return a noun of a built-in world in German, in a grammatical case, with or without its article. */
function noun(name, form) {
  const [, first, rest] = name.match(/^(\w+) (.+)$/u) ?? [];
  const colour = COLOURS[first];
  const known = Object.hasOwn(NOUNS, name) ? NOUNS[name] : colour && Object.hasOwn(NOUNS, rest) ? NOUNS[rest] : null;
  if (!known) return form === "bare" ? name : form === "to" ? `zu „${name}“` : form === "at" ? `bei „${name}“` : `„${name}“`;
  const [gender, ...words] = known.split(" ");
  const strong = { der: "er", die: "e", das: "es" }[gender]; // ein roter Ball, eine rote Tasse
  const adjective = (end) => (colour && !Object.hasOwn(NOUNS, name) ? `${colour}${/^(lila|rosa|orange)$/.test(colour) ? "" : end} ` : "");
  const said = words.join(" ");
  if (form === "bare") return `${adjective(strong)}${said}`;
  if (form === "to") return `${gender === "die" ? "zur" : "zum"} ${adjective("en")}${said}`;
  if (form === "at") return `${gender === "die" ? "bei der" : "beim"} ${adjective("en")}${said}`;
  if (form === "what") return `${gender === "der" ? "den" : gender} ${adjective(gender === "der" ? "en" : "e")}${said}`;
  return `${gender} ${adjective("e")}${said}`;
}

/** Return a name in a picture in the language of the page. */
export const thingName = (name) => (column ? COLOURS[name] ?? noun(name, "bare") : name);

const GERMAN = [
  [/^go to the (.+)$/u, (to) => `${noun(to, "to")} gehen`],
  [/^take the (.+)$/u, (what) => `${noun(what, "what")} nehmen`],
  [/^put down the (.+)$/u, (what) => `${noun(what, "what")} ablegen`],
  [/^push the (.+) to the (.+)$/u, (what, to) => `${noun(what, "what")} ${noun(to, "to")} schieben`],
  [/^open the (.+)$/u, (what) => `${noun(what, "what")} öffnen`],
  [/^close the (.+)$/u, (what) => `${noun(what, "what")} schließen`],
  [/^switch on the (.+)$/u, (what) => `${noun(what, "what")} einschalten`],
  [/^switch off the (.+)$/u, (what) => `${noun(what, "what")} ausschalten`],
];

/** Return the name of an action in the language of the page: *zum Tisch gehen*. */
export function actionName(label) {
  if (!column) return label;
  const [, who = "", deed] = label.match(/^([^:]+: )?(.*)$/su);
  for (const [form, made] of GERMAN) { const found = deed.match(form); if (found) return who + made(...found.slice(1)); }
  return label;
}

/** Return the description of a state in the language of the page. */
export function stateText(text) {
  if (!column || !text) return text;
  const parts = text.replace(/\.$/u, "").replace(" and holds nothing", "").split(/; |, (?=the )/u).map((part) => {
    const [, who, how, at, holds] = part.match(/^(?:[Tt]he )?(.+?) (?:is (?:(on|off|open|closed) )?at|lies on|on) the (.+?)(?: and holds the (.+))?$/u) ?? [];
    if (!who) return null;
    const state = how ? `${CONDITIONS[how]} ` : "";
    return `${noun(who, "who")} ist ${state}${noun(at, "at")}${holds ? ` und hält ${noun(holds, "what")}` : ""}`;
  });
  if (parts.some((part) => part === null)) return text;
  const said = parts.join("; ");
  return `${said[0].toUpperCase()}${said.slice(1)}.`;
}

/** Translate the names of actions and states in a response of the server. */
export function localise(value) {
  if (!column || value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(localise);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => {
    if (key === "label") return [key, actionName(each)];
    if (["problem", "note"].includes(key)) return [key, sentence(each)];
    if (["labels", "without"].includes(key) && Array.isArray(each)) return [key, each.map((one) => (typeof one === "string" ? actionName(one) : one))];
    if (key === "frames") return [key, each.map((frame) => ({ ...frame, text: stateText(frame.text) }))];
    return ["state", "start", "json", "scene", "source"].includes(key) ? [key, each] : [key, localise(each)];
  }));
}

/** Return the language that the agent speaks: that of the page. */
export const dialogueLanguage = () => (column ? "german" : "english");

// Past tense and participle of common first words of actions; others are quoted.
const VERBS = {
  go: ["went", "gone"], take: ["took", "taken"], put: ["put", "put"], push: ["pushed", "pushed"],
  open: ["opened", "opened"], close: ["closed", "closed"], switch: ["switched", "switched"],
  walk: ["walked", "walked"], turn: ["turned", "turned"], move: ["moved", "moved"], pick: ["picked", "picked"],
  drop: ["dropped", "dropped"], face: ["faced", "faced"], stay: ["stayed", "stayed"], strike: ["struck", "struck"], pass: ["passed", "passed"], stop: ["stopped", "stopped"],
};
const PARTICIPLES = {
  gehen: "gegangen", nehmen: "genommen", ablegen: "abgelegt", schieben: "geschoben", öffnen: "geöffnet", schließen: "geschlossen",
  einschalten: "eingeschaltet", ausschalten: "ausgeschaltet",
};
const said = (label, form) => {
  const [first, ...rest] = label.split(" ");
  const known = !column && rest.length ? VERBS[first.toLowerCase()] : undefined;
  if (known) return [known[form], ...rest].join(" ");
  const [, what, verb] = label.match(/^(.*) (\S+)$/su) ?? [];
  if (column) {
    const helper = verb === "gehen" ? ["bin", "wäre ich"] : ["habe", "hätte ich"];
    return `${helper[form]} ${Object.hasOwn(PARTICIPLES, verb ?? "") ? `${what} ${PARTICIPLES[verb]}` : `„${label}“ gemacht`}`;
  }
  return `${["did", "done"][form]} “${label}”`;
};

/** Return an action in the past tense: *went to the table*. */
export const did = (label) => said(label, 0);

/** Return hypothetical actions in words; with *only* if they are a prefix of the actual ones. */
export const would = (actions, done) => {
  if (!actions.length) return t("wouldNothing");
  const text = actions.map((each) => said(each, 1)).join(t("then"));
  return actions.length < done.length && actions.every((each, place) => each === done[place]) ? t("only", text) : text;
};
export const spoken = () => (column ? "de-DE" : "en-GB");
