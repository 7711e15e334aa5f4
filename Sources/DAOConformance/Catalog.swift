/// The list of all cases: the files of each chapter, in the order of the contract.
enum Catalog {
    static let cases = chapters.flatMap { $0 }

    private static let chapters: [[ConformanceCase]] = [
        KeysTypes.cases, KeysStrings.cases, KeysChanges.cases,
        ValuesNumbers.cases, ValuesTexts.cases, ValuesOptionals.cases, ValuesEmbedded.cases,
        PredicatesNil.cases, PredicatesNumbers.cases, PredicatesKinds.cases, PredicatesTexts.cases, PredicatesIn.cases,
        PredicatesPlans.cases, PredicatesInWords.cases, PredicatesArrays.cases, PredicatesMembers.cases,
        QueriesOrder.cases, QueriesSorts.cases, QueriesWindows.cases, QueriesPages.cases, QueriesScopes.cases,
        QueriesStreams.cases,
        QueriesTotals.cases,
        QueriesIndexes.cases, PartialIndexes.cases, ElementIndexes.cases, QueriesPlans.cases, QueriesFields.cases,
        QueriesGroups.cases,
        WritesBasics.cases, WritesMerging.cases, WritesAtomic.cases, WritesUnique.cases, WritesUniqueCalls.cases,
        WritesClassic.cases,
        WritesRevisions.cases, WritesSetting.cases, WritesFromWithin.cases,
        RelationsLists.cases, RelationsWriting.cases, RelationsErasing.cases, RelationsShapes.cases, RelationsClassic.cases,
        RelationsReferences.cases, RelationsReferenceFields.cases, RelationsReferenceOrder.cases, RelationsReferenced.cases,
        RelationsIncluding.cases,
        RelationsInverse.cases, RelationsTotals.cases,
        RelationsConditions.cases,
        Transactions.cases, TransactionsSavepoints.cases, TransactionsIsolation.cases, TransactionsUpdates.cases,
        TransactionsMisuse.cases, TransactionsTranslators.cases, TransactionsRetrying.cases, TransactionsShared.cases,
        Observations.cases, ObservationsValues.cases, ObservationsList.cases, Concurrency.cases, Tenants.cases, Processes.cases,
        ProcessesRelations.cases, Opening.cases, EncryptedFiles.cases,
        LifeCycle.cases, LifeCycleFiles.cases, LifeCycleGrowth.cases, LifeCycleMaintenance.cases, Instruments.cases,
        Errors.cases,
        Schemas.cases,
        EvolutionFields.cases, EvolutionIndexes.cases, EvolutionLongIndexes.cases, EvolutionRenames.cases,
        EvolutionRefusals.cases,
        EvolutionMigrations.cases, EvolutionMigrationFailures.cases, EvolutionPlans.cases, EvolutionCopies.cases,
        EvolutionRelations.cases, EvolutionReferences.cases,
        EvolutionRetired.cases, EvolutionRetiredRelations.cases, EvolutionDeclarations.cases, EvolutionParts.cases,
        EvolutionRows.cases, EvolutionCaches.cases,
        Thresholds.cases, ThresholdsQueries.cases, Pairs.cases, PairsBeside.cases, SecondLevel.cases,
        ServersConnections.cases, ServersWaiting.cases, ServersTransactions.cases,
    ]
}
