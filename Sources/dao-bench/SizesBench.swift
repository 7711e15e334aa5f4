import DAOCore
import Foundation

/// The ratios of every row at several numbers of rows, and how the time grows from the fewest to the most.
enum SizesBench {
    static func run(_ options: Options, sizes: [Int], in directory: URL) throws {
        print(
            """
            medians of \(options.repetitions): the ratio at each number of rows, and by how much the time for a row, or for a call, \
            grows
            """
        )
        for pair in options.pairs {
            for shape in options.shapes where shape.isMeasured(pair) {
                let columns = try sizes.map { try measured(pair, shape, options, $0, in: directory) }
                guard let (few, many) = columns.first.flatMap({ few in columns.last.map { (few, $0) } }), let first = few.first
                else {
                    continue
                }
                print("\n" + line(first.pair, sizes.map { "\($0)" } + ["raw", "DAO"], width: 8))
                for (place, cell) in few.enumerated() {
                    let ratios = columns.map { String(format: "%.2f", $0[place].ratio) }
                    let work = Workload(rawValue: cell.workload)
                    let units = [sizes.first, sizes.last].map { Double(work?.units(rows: $0 ?? 1) ?? 1) }
                    let growth = [\Measurement.rawMilliseconds, \.daoMilliseconds].map { side in
                        median(many[place][keyPath: side]) / units[1] / (median(cell[keyPath: side]) / units[0])
                    }
                    print(line(cell.workload, ratios + growth.map { String(format: "× %.2f", $0) }, width: 8))
                }
            }
        }
    }

    private static func measured(
        _ pair: Pair, _ shape: Shape, _ options: Options, _ rows: Int, in directory: URL
    ) throws -> [Measurement] {
        switch shape {
        case .texts: try measure(pair, shape, Dataset<Message>(count: rows), options, in: directory)
        case .numbers: try measure(pair, shape, Dataset<Payment>(count: rows), options, in: directory)
        }
    }
}
