# The two commands of the README are `make demo` and `make test`; each does all of its own set-up.

# CI sets it to -Xswiftc -warnings-as-errors.
SWIFT_FLAGS ?=
# Where databases of the demo go; a fresh temporary directory when empty.
URL ?=
# How long `make soak` runs; until it is stopped when empty.
MINUTES ?=
# How often `make crash` and `make failover` kill, `make crash-states` cuts the power, `make faults` and `make hands` disturb, and
# `make fuzz` damages; and what they begin with, at random when empty.
ROUNDS ?=
SEED ?=

# How many edits `make mutants` draws, and its further options, such as ARGUMENTS="--target DAOSQL --jobs 4".
MUTANTS ?= 500
ARGUMENTS ?=

# Where the site of `make docs` stands on its host, such as swift-dao; its root when empty.
BASE_PATH ?=

# Which tests `make test` runs: a regular expression for their names; all of them when empty.
FILTER ?=
# Package.swift optimises the libraries in debug builds where it is 1.
export DAO_OPTIMIZED = 1
# Package.swift turns the trait Encryption on where it is 1.
export DAO_ENCRYPTION = $(if $(filter Linux,$(shell uname)),1)
# Foundation's `Process` reads 256 bytes beyond the last entry of a directory (`findMaximumOpenFromProcSelfFD`). With more than 1350 open files in
# the tests that is beyond the heap, unless glibc leaves room there.
export MALLOC_TOP_PAD_ = 16777216
# The numbers of rows that `make bench-sizes` measures.
SIZES ?= 10000,100000,1000000
# How many rounds the races of `make tsan` have.
RACE_ROUNDS ?= 300000

.PHONY: encryption pooler rehearse-apple tsan-build help demo offline-demo test arrivals csv browse-test check conformance soak crash failover crash-states faults follow consumer hands fuzz fuzz-predicates fuzz-search search-corpus fuzz-events mutants mutant-suite property-mutants coverage constants bench bench-check bench-sizes bench-growth bench-writers bench-copy bench-follow docs format lint consumers examples bench-reminders newcomer messages tsan tsan-suite clean

help: ## What there is to make
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1	/' | expand -t 22

demo: ## Import real data into memory, SQLite, LMDB and PostgreSQL, and ask all four the same questions
	@Scripts/setup.sh --demo
	@echo "Building (a minute or two the first time) …"
	@swift build -c release --product dao-demo $(SWIFT_FLAGS) --quiet
	@$(if $(URL),,Scripts/with-postgres.sh --if-possible) swift run -c release --skip-build dao-demo $(URL)

offline-demo: ## Fetch from a server, store, stop the server, read without it (URL=sqlite:dialogs.db, memory: unless said)
	@Scripts/setup.sh
	@swift build --product dao-offline-demo $(SWIFT_FLAGS) --quiet
	@swift run --skip-build dao-offline-demo $(if $(URL),"$(URL)")

test: ## Run every test, the conformance suite over every backend included (FILTER=Planner: those of that name)
	@Scripts/setup.sh --demo
	swift build --build-tests $(SWIFT_FLAGS)
	Scripts/with-postgres.sh Scripts/test.sh "$(FILTER)" $(SWIFT_FLAGS)

check: ## Run all that CI runs: formatting, consumers, examples, a newcomer's package, compiler messages, documentation, tests
	@Scripts/setup.sh --demo
	@$(MAKE) --no-print-directory lint
	@[ "$$(uname)" != Linux ] || Scripts/rehearse-apple.py shell
	@for target in consumers examples newcomer $(if $(filter Linux,$(shell uname)),encryption); do $(MAKE) --no-print-directory $$target || exit 1; done
	@$(MAKE) --no-print-directory messages SWIFT_FLAGS="-Xswiftc -warnings-as-errors"
	@$(MAKE) --no-print-directory docs SWIFT_FLAGS="-Xswiftc -warnings-as-errors"
	@$(MAKE) --no-print-directory test SWIFT_FLAGS="-Xswiftc -warnings-as-errors"

conformance: ## The conformance suite's table over memory, SQLite, LMDB and PostgreSQL, with one writer and with many, directly and behind PgBouncer
	@Scripts/setup.sh
	@swift build --product dao-conformance
	@Scripts/with-postgres.sh sh -c '.build/debug/dao-conformance --url memory: --url sqlite: --url lmdb: --url "$$DAO_POSTGRES_URL?pool=120" --url "$$DAO_POSTGRES_URL?pool=240&writers=many" --url "$$DAO_POSTGRES_URL?pooler=process&pool=120" $${DAO_POOLER_URL:+--url "$$DAO_POOLER_URL?pooler=transaction&pool=130"} $${DAO_POOLER_URL:+--url "$$DAO_POOLER_URL?pooler=transaction&pool=240&writers=many"}'

soak: ## Property-based tests until they are stopped: MINUTES=20 ends them, URL=sqlite: runs one kind of database
	@Scripts/setup.sh
	@swift build -c release --product dao-soak $(SWIFT_FLAGS) --quiet
	@swift run -c release --skip-build dao-soak $(if $(MINUTES),--minutes $(MINUTES)) $(if $(URL),--url "$(URL)")

crash: ## Kill a process that commits, ROUNDS=1000 times for each backend and durability, and look at what it has left
	@Scripts/setup.sh
	@swift build --build-tests $(SWIFT_FLAGS) --quiet
	ROUNDS=$(or $(ROUNDS),1000) swift test --skip-build --filter DAOProcessTests.CrashTests

failover: ## Kill a PostgreSQL primary ROUNDS=50 times beside writers, readers and observers, and promote its standby
	@Scripts/setup.sh
	@swift build --build-tests $(SWIFT_FLAGS) --quiet
	ROUNDS=$(or $(ROUNDS),50) $(if $(SEED),SEED=$(SEED)) Scripts/with-postgres.sh swift test --skip-build --filter DAOPostgresTests.FailoverLatencyTests

# One case after the other: a transaction that one case keeps open makes the server report conflicts to the others (Docs/PostgreSQL.md).
pooler: ## Run the whole suite behind PgBouncer beside a hostile client, and ROUNDS=2500 calls of each of 400 clients
	@Scripts/setup.sh
	@swift build --build-tests $(SWIFT_FLAGS) --quiet
	ROUNDS=$(or $(ROUNDS),2500) Scripts/with-postgres.sh swift test --skip-build --filter manyClientsOnFewConnections
	POOLER=all Scripts/with-postgres.sh swift test --no-parallel --skip-build --filter DAOPostgresTests.PoolerContractTests

encryption: ## Check encrypted files against SQLCipher itself, damage ROUNDS=3000 of them, and look for plain text
	@Scripts/setup.sh
	Scripts/encryption/check.py --rounds $(or $(ROUNDS),3000)

# Runs tests of processes: $(call process_tests,SUITE,ROUNDS).
process_tests = ROUNDS=$(or $(ROUNDS),$(2)) $(if $(SEED),SEED=$(SEED)) swift test --skip-build --filter DAOProcessTests.$(1)

crash-states: ## Open ROUNDS=10000 states of files that power cuts can leave, for each backend and durability
	@Scripts/setup.sh
	@swift build --build-tests $(SWIFT_FLAGS) --quiet
	$(call process_tests,CrashStateTests,10000)

faults: ## Let calls on the files fail, once and for ever, ROUNDS=100000 of each kind at most
	@Scripts/setup.sh
	@swift build --build-tests $(SWIFT_FLAGS) --quiet
	$(call process_tests,FaultTests,100000)

follow: ## Move databases that two processes write into ROUNDS=200 times, and kill what moves them
	@Scripts/setup.sh
	@swift build --build-tests $(SWIFT_FLAGS) --quiet
	$(call process_tests,FollowTests,200)

consumer: ## Kill a consumer of the log of changes beside four processes that make ROUNDS=250000 calls each, and replay the log
	@Scripts/setup.sh
	@swift build --build-tests $(SWIFT_FLAGS) --quiet
	$(call process_tests,ConsumerTests,250000)

hands: ## Move, remove, replace, cut, lock and close the file of three processes, before ROUNDS=100000 calls at most
	@Scripts/setup.sh
	@swift build --build-tests $(SWIFT_FLAGS) --quiet
	$(call process_tests,StrangerTests,100000)

fuzz: ## Damage ROUNDS=2000 small and as many large files of each backend, with SQLite's checksums too, and use them; SEED=… repeats what was found
	@Scripts/setup.sh
	@swift build --build-tests $(SWIFT_FLAGS) --quiet
	ROUNDS=$(or $(ROUNDS),2000) $(if $(SEED),SEED=$(SEED)) swift test --skip-build --filter DAOProcessTests.FuzzTests

fuzz-predicates: ## Fuzz text predicates on every backend for MINUTES=10; SEED=… repeats what was found
	@Scripts/setup.sh
	@swift build --build-tests $(SWIFT_FLAGS) --quiet
	MINUTES=$(or $(MINUTES),10) $(if $(SEED),SEED=$(SEED)) swift test --skip-build --filter DAOConformanceTests.PredicateFuzzTests

fuzz-search: ## Search texts of the world's scripts after ROUNDS=2000 writes of each database, and compare with a reference that reads all rows; SEED=…
	@Scripts/setup.sh
	@swift build --build-tests $(SWIFT_FLAGS) --quiet
	ROUNDS=$(or $(ROUNDS),2000) $(if $(SEED),SEED=$(SEED)) Scripts/with-postgres.sh swift test --skip-build --filter DAOSearchTests.SearchScriptTests

search-corpus: ## Search 50,000 paragraphs in five languages, and compare with an evaluation in Python; the Debian packages with the texts are downloaded
	@Scripts/setup.sh
	@swift build --build-tests $(SWIFT_FLAGS) --quiet
	Scripts/search-corpus.py .build/corpus
	CORPUS=.build/corpus/corpus.json Scripts/with-postgres.sh swift test --skip-build --filter DAOSearchTests.CorpusTests

fuzz-events: ## Run generated orders of events on operators, stores, pagers, caches, redirects and forms, MINUTES=2 each; SEED=… repeats what was found
	@Scripts/setup.sh
	@swift build --build-tests $(SWIFT_FLAGS) --quiet
	MINUTES=$(or $(MINUTES),2) $(if $(SEED),SEED=$(SEED)) swift test --skip-build --filter 'DAONodesTests.ScriptTests|TransportScriptTests'

mutants: ## Plant MUTANTS=500 single edits, drawn from SEED=1, and run the suite and generated scripts on each
	@Scripts/setup.sh
	@Scripts/with-postgres.sh --if-possible Scripts/mutants/mutants.py --count $(MUTANTS) --seed $(or $(SEED),1) $(ARGUMENTS)

arrivals: ## Move files as other programs make them into SQLite, LMDB and PostgreSQL, compare each value, and compile their models
	@Scripts/setup.sh
	@swift build --build-tests $(SWIFT_FLAGS) --quiet
	@Scripts/with-postgres.sh Scripts/arrivals.py --compile

csv: ## Compare the cells of ROUNDS=100000 CSV files with those that Python's csv reads; SEED=… repeats what was found
	@Scripts/setup.sh
	@swift build --build-tests $(SWIFT_FLAGS) --quiet
	ROUNDS=$(or $(ROUNDS),100000) $(if $(SEED),SEED=$(SEED)) swift test --skip-build --filter ImportTests/cellsAreThoseOfPython

browse-test: ## Press every button of the page of `dao browse` in headless Chromium; screenshots in .build/browse-test
	@Scripts/setup.sh --browser
	@swift build --build-tests $(SWIFT_FLAGS) --quiet
	BROWSE_SCREENSHOTS=$(CURDIR)/.build/browse-test swift test --skip-build --no-parallel --filter everyButtonWorks

property-mutants: ## Make sure that the property tests detect every planted fault; `make test` does where either has changed since
	@Scripts/setup.sh
	@swift build --build-tests $(SWIFT_FLAGS) --quiet
	@Scripts/property-mutants.sh

mutant-suite: ## Plant the suite's faults in databases of URL (sqlite:, lmdb:, postgres://…), by default on a PostgreSQL server of its own
	@Scripts/setup.sh
	@swift build --build-tests $(SWIFT_FLAGS) --quiet
	@Scripts/with-postgres.sh sh -c 'DAO_FAULTS_URL="$(or $(URL),$$DAO_POSTGRES_URL?pool=40)" swift test --skip-build --filter DAOConformanceTests.MutantTests'

constants: ## The numbers in the sources that change a path, and the cases that try each on both sides (ARGUMENTS=--open)
	@Scripts/constants.py $(ARGUMENTS)

coverage: ## Which lines of the libraries the suite and generated scripts alone come by
	@Scripts/setup.sh
	@Scripts/coverage.py

bench: ## Ratios to the C libraries underneath, in one run; ONLY=sqlite, lmdb, memory or postgres
	@Scripts/setup.sh
	@swift build -c release --product dao-bench --quiet
	@Scripts/with-postgres.sh --if-possible --durable .build/release/dao-bench $(if $(ONLY),--only $(ONLY))

bench-sizes: ## Those ratios at SIZES=10000,100000,1000000 rows, and how the times grow
	@Scripts/setup.sh
	@swift build -c release --product dao-bench --quiet
	@.build/release/dao-bench --sizes $(SIZES) --repeat 1 $(if $(ONLY),--only $(ONLY))

bench-growth: ## How queries grow on a hundred times the rows, and their ratios to SQL by hand: ROWS=100000
	@Scripts/setup.sh
	swift run -c release dao-bench --growth 100 --repeat 15 --rows $(or $(ROWS),100000)

bench-writers: ## Commits a second of 16 clients of a PostgreSQL server that syncs, with writers=one and writers=many
	@Scripts/setup.sh
	@swift build -c release --product dao-bench --quiet
	@Scripts/with-postgres.sh --durable sh -c '.build/release/dao-bench --writers "$$DAO_POSTGRES_URL"'

bench-copy: ## How fast ROWS=1000000 are copied from SQLite to a PostgreSQL server, compared with COPY of ready-made text
	@Scripts/setup.sh
	@swift build -c release --product dao-bench --quiet
	@Scripts/with-postgres.sh sh -c '.build/release/dao-bench --copy-postgres "$$DAO_POSTGRES_URL" --rows $(or $(ROWS),1000000) --repeat 3'

bench-follow: ## Move ROWS=5000000 from SQLite to a PostgreSQL server while four writers go on: times, pause, and what both sides have
	@Scripts/setup.sh
	@swift build -c release --product dao-bench --quiet
	@Scripts/with-postgres.sh sh -c '.build/release/dao-bench --follow "$$DAO_POSTGRES_URL" --rows $(or $(ROWS),5000000)'

bench-check: ## Fail where a ratio of dao-bench is worse than the stored one in two of three runs
	@Scripts/setup.sh
	@swift build -c release --product dao-bench --quiet
	@Scripts/with-postgres.sh --if-possible --durable Scripts/bench-check.py

# The sanitizer takes the counts of references of optimised copies for races.
tsan tsan-build tsan-suite: DAO_OPTIMIZED =
TSAN_FILTER ?= Concurren|Transaction|Store|DAOTransport|DAONodes
TSAN_BUILD = --sanitize=thread --scratch-path .build/tsan
tsan: tsan-suite ## Run the concurrent tests, the suite's chapters first, under ThreadSanitizer (RACE_ROUNDS=300000)
	DAO_RACE_ROUNDS=$(RACE_ROUNDS) swift test $(TSAN_BUILD) --filter '$(TSAN_FILTER)' --skip SessionAnswerTests

tsan-build:
	@Scripts/setup.sh
	@swift build $(TSAN_BUILD) --product dao-conformance --quiet

# The chapters of transactions, observation, concurrency, and closing; and the deepest conditions, since this is a build without
# optimisation, whose frames are the largest.
tsan-suite: tsan-build ## Run the suite's concurrent chapters and deepest conditions on every backend under ThreadSanitizer
	swift run $(TSAN_BUILD) --skip-build dao-conformance $(foreach chapter,T O C L,--chapter $(chapter))
	swift run $(TSAN_BUILD) --skip-build dao-conformance --case P.deepest

# Who does not encrypt needs no header of a cryptographic library.
consumers: DAO_ENCRYPTION =
consumers: SWIFT_FLAGS = -Xswiftc -warnings-as-errors
consumers: ## Packages that use one backend each build without the headers of the others
	@Scripts/setup.sh
	Scripts/check-consumers.sh $(SWIFT_FLAGS)

examples: SWIFT_FLAGS = -Xswiftc -warnings-as-errors
examples: ## Run the tests of the packages in Examples on every database
	@Scripts/setup.sh
	Scripts/with-postgres.sh swift test --package-path Examples/Reminders --scratch-path .build $(SWIFT_FLAGS)

bench-reminders: ## The queries of the reminders app beside the same by hand, and on LMDB
	@Scripts/setup.sh
	REMINDERS_BARS=1 DAO_OPTIMIZED=1 swift test -c release -Xswiftc -enable-testing --package-path Examples/Reminders --scratch-path .build/bars --filter BarTests

newcomer: SWIFT_FLAGS = -Xswiftc -warnings-as-errors
newcomer: ## From an empty directory to two databases: a package, generated models, SQLite, LMDB, dao copy and verify
	@Scripts/setup.sh
	Scripts/newcomer.sh $(SWIFT_FLAGS)

messages: ## The compiler reports typical mistakes at their line, in words that help, within a second each
	@Scripts/setup.sh
	@swift build --target DAOCore $(SWIFT_FLAGS) --quiet
	@Scripts/check-compiler-messages.py

docs: ## Build the documentation of every symbol and all guides as a searchable site in .build/docs; warnings are errors
	@Scripts/setup.sh
	@swift build $(SWIFT_FLAGS) --quiet
	@Scripts/bench-bars.py --check
	@Scripts/docs.py $(if $(BASE_PATH),--base-path "$(BASE_PATH)")

rehearse-apple: ## Rehearse Apple's platforms on Linux (ARGUMENTS="types shell": only these parts): types, threads, locks, LMDB, scripts
	@Scripts/setup.sh
	@swift build --product dao-conformance $(SWIFT_FLAGS) --quiet
	@Scripts/rehearse-apple.py $(ARGUMENTS)

format: ## Format the sources in place
	swift format --in-place --recursive Package.swift Sources Tests Plugins Examples

lint: ## Check the formatting, that generated sources are up to date, and that locks are visible to ThreadSanitizer
	swift format lint --strict --recursive Package.swift Sources Tests Plugins Examples
	Scripts/schema-arities.py --check
	Scripts/totals-arities.py --check
	Scripts/word-breaks.py --check
	@! grep -rnE '\bMutex[<(]' Sources --include='*.swift' | grep -v Internal/Lock.swift || { echo "use Lock, which ThreadSanitizer sees"; exit 1; }

clean: ## Remove what was built
	rm -rf .build
